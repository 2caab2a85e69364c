"""How far from the limit? Sources whose true entropy is known, against the source itself as the peer.

python benchmarks/limits.py [minutes for each neural model, default 0.95]
"""

from __future__ import annotations

import sys

import numpy as np
from record import write_row

import seriatim as st
from seriatim.data.corpora.sources import parse_source
from seriatim.measuring.likelihood import score

MINUTES = float(sys.argv[1]) if len(sys.argv) > 1 else 0.95


def markov(model: str, **settings) -> None:
    """Order 2, 27 symbols, 200,000 symbols for training, other draws of 10,000 for validation and 100,000 for the test."""
    predictor = st.fit(
        "language", model, st.read("markov"), st.read("markov:draw=3,length=10000"), **settings
    )
    test = st.read("markov:draw=2,length=100000")
    record = predictor.evaluate(test)
    truth = -parse_source("markov").log_prob(test.main.raw(0)).mean() / np.log(2)
    write_row(
        "limits.py",
        f"Markov source of order 2, {model}, {predictor.metrics['seconds']:.0f} s",
        f"{record['bits_per_token']:.4f} bits",
        f"{truth:.4f} (the source itself)",
        f"{record['bits_per_token'] - truth:+.4f} bits; {record['excess_bits']:+.4f} from the entropy",
    )


def remember(model: str, **settings) -> None:
    """The last symbol repeats the first, 20 symbols before: what probability does it get?"""
    predictor = st.fit("language", model, st.read("remember"), **settings)
    test = st.read("remember:draw=2,sequences=2000")
    ids = predictor.codec.encode(test.main)
    scored = score(predictor.model, ids, "line")
    last = np.exp(np.mean([scored.row(s)[-2] for s in range(len(ids))]))
    write_row(
        "limits.py",
        f"remember at distance 20, {model}, {predictor.metrics['seconds']:.0f} s",
        f"p(last) = {last:.4f}",
        "1 (the source itself)",
        f"{predictor.evaluate(test)['excess_bits']:+.4f} bits per token",
    )


if __name__ == "__main__":
    markov("markov", order=2)
    # A table of 729 contexts without any structure wants a small memory and a wide feed-forward part to look the pair up.
    markov(
        "lstm",
        minutes=MINUTES,
        width=64,
        residual=True,
        feed_forward=16,
        dropout=0.1,
        rows=128,
        length=8,
        rate=0.02,
    )
    markov(
        "transformer",
        minutes=MINUTES,
        width=96,
        layers=1,
        feed_forward=8,
        context=8,
        rows=32,
        length=32,
        rate=0.006,
    )
    remember("markov", order=3)
    remember("lstm", minutes=MINUTES)
    remember("transformer", minutes=MINUTES)
