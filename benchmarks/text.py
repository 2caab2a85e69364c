"""How well networks predict text in a given time, from the command line, evaluation included.

    python benchmarks/text.py [hundred] [twenty] [words] [--minutes M]

hundred, twenty: tiny Shakespeare, last tenth, in 100 seconds and in 20 minutes; beside them a plain loop over one `torch.nn.LSTM`, with as much time as
the fits in 100 seconds have.  words: wiki100, 5 million words to learn from, the next 250,000 for the test, vocabulary of 10,000; --minutes for each network.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from record import write_row
from torch import nn

from seriatim.data import read

DATA = (
    Path(os.environ.get("SERIATIM_DATA", Path(__file__).parent.parent.parent / "shared" / "data"))
    / "text"
)
ALONE = "--direct 0 --width 256"  # without votes beside it
HUNDRED = [
    ("lstm", ALONE, 1.42),
    ("lstm", "", 1.42),
    ("kneser-ney+cache+lstm", "--order 7", 1.38),
    ("transformer", "", 1.43),
]
TWENTY = "--direct 8 --direct-dropout 0.5 --width 320 --dropout 0.3 --rate 8e-3 --compile no"
COUNTED = [
    ("unigram", ""),
    ("markov", "--order 1 --add 0.01"),
    ("markov", "--order 2 --add 0.01"),
    ("kneser-ney", "--order 5"),
]
WORDS = "--unit word --vocabulary 10000 --by stream"


def cut(folder: Path) -> tuple[Path, Path]:
    """Tiny Shakespeare: its first nine tenths, and the last."""
    text = (DATA / "tinyshakespeare.txt").read_text()
    return parted(folder, text[: len(text) * 9 // 10], text[len(text) * 9 // 10 :])


def parted(folder: Path, first: str, second: str) -> tuple[Path, Path]:
    train, test = folder / "train.txt", folder / "test.txt"
    train.write_text(first)
    test.write_text(second)
    return train, test


def measured(model: str, flags: str, train: Path, test: Path) -> tuple[dict, dict, float]:
    """What `fit` and `evaluate` say, and the seconds of both."""
    begin, run = time.perf_counter(), train.parent / "run"
    said = [
        subprocess.run(
            [sys.executable, "-m", "seriatim", *words, "--format", "json"],
            stdout=subprocess.PIPE,
            check=True,
        ).stdout
        for words in (
            [
                "fit",
                "language",
                model,
                str(train),
                *flags.split(),
                "--out",
                str(run),
                "--overwrite",
            ],
            ["evaluate", str(run), str(test)],
        )
    ]
    return json.loads(said[0]), json.loads(said[1]), time.perf_counter() - begin


def plain(
    train: Path, test: Path, seconds: float, rows: int = 16, length: int = 64, width: int = 512
) -> float:
    """One torch.nn.LSTM, AdamW at 5e-3 falling to zero, state carried: nats per character of the test."""
    symbols = {
        symbol: number
        for number, symbol in enumerate(sorted(set(train.read_text() + test.read_text())))
    }
    ids, rest = (
        torch.tensor([symbols[symbol] for symbol in file.read_text()]) for file in (train, test)
    )
    embedding, cell, output = (
        nn.Embedding(len(symbols), width),
        nn.LSTM(width, width, batch_first=True),
        nn.Linear(width, len(symbols)),
    )
    optimiser = torch.optim.AdamW(
        [*embedding.parameters(), *cell.parameters(), *output.parameters()], lr=5e-3
    )
    lines, place, state, begin = (
        ids[: len(ids) // rows * rows].view(rows, -1),
        0,
        None,
        time.perf_counter(),
    )
    while (share := (time.perf_counter() - begin) / seconds) < 1:
        place, state = (place, state) if place + length < lines.shape[1] else (0, None)
        piece, place = lines[:, place : place + length + 1], place + length
        hidden, state = cell(embedding(piece[:, :-1]), state)
        loss = nn.functional.cross_entropy(output(hidden).flatten(0, 1), piece[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(cell.parameters(), 1.0)
        optimiser.param_groups[0]["lr"] = 5e-3 * (1 - share)
        optimiser.step()
        state = tuple(each.detach() for each in state)
    with torch.inference_mode():
        logits = output(cell(embedding(rest[None, :-1]))[0])[0]
        return nn.functional.cross_entropy(logits, rest[1:]).item()


def row(
    title: str, model: str, flags: str, found: dict, seconds: float, peer: str, difference: str
) -> None:
    write_row(
        "text.py",
        f"{title}: {' '.join([model, *flags.split()])}",
        f"{found['nats_per_token']:.4f} nats/token, perplexity {found['perplexity']:.1f}; {seconds:.0f} s in all",
        peer,
        difference,
    )


def hundred(given: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        train, test = cut(Path(folder))
        peer = plain(train, test, 85.0)
        for model, flags, minutes in HUNDRED:
            _, found, seconds = measured(model, f"{flags} --minutes {minutes}", train, test)
            row(
                "tiny Shakespeare by character, 100 s",
                model,
                flags,
                found,
                seconds,
                f"plain torch.nn.LSTM of width 512, 85 s: {peer:.4f}",
                f"{found['nats_per_token'] - peer:+.4f}",
            )


def twenty(given: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        train, test = cut(Path(folder))
        for model, flags in (("lstm", TWENTY), ("kneser-ney+cache+lstm", f"--order 7 {TWENTY}")):
            _, found, seconds = measured(model, f"{flags} --minutes 18.7", train, test)
            row(
                "tiny Shakespeare by character, 20 min",
                model,
                flags,
                found,
                seconds,
                "nanoGPT's recipe on a GPU: 1.4697",
                f"{found['nats_per_token'] - 1.4697:+.4f}",
            )


def words(given: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        text = read(str(DATA / "wiki100.txt.xz")).main.raw(0).split()
        train, test = parted(
            Path(folder), " ".join(text[:5_000_000]), " ".join(text[5_000_000:5_250_000])
        )
        for model, flags in [
            *COUNTED,
            *((model, f"--minutes {given.minutes:g}") for model in given.models.split(",")),
        ]:
            _, found, seconds = measured(model, f"{flags} {WORDS}", train, test)
            row("wiki100 by word, 5 M, vocabulary 10,000", model, flags, found, seconds, "", "")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--models", default="neural-ngram,convolution,rnn,gru,lstm,transformer")
    given = parser.parse_args()
    PARTS = {"hundred": hundred, "twenty": twenty, "words": words}
    for name in given.parts or PARTS:
        PARTS[name](given)
