"""Vectors of sequences: the variational autoencoder beside a language model of equal size, drawings, and a writer that classifies.

    python benchmarks/autoencode.py [sentences] [drawings] [messages] [--threads N] [--out FOLDER] [--minutes M]

sentences: English Web Treebank, words seen twice or more; the same decoder with and without a vector, nats per word of the test.  drawings: Quick,
Draw!, a tenth for the test.  messages: SMS spam without copies, a tenth for the test; what is written as spam is judged by naive Bayes.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np
from record import write_row

from seriatim import fit, load, read
from seriatim.data.formats.svg import write_svg
from seriatim.data.sequences import Sequences
from seriatim.measuring.resampling import interval
from seriatim.tasks.autoencode.likelihood import bound

DATA = Path(
    os.environ.get("SERIATIM_DATA", Path(__file__).parent.parent.parent / "shared" / "data")
)
TEXTS = {"minimum_count": 2, "dropout": 0.4, "width": 192, "epochs": 8.0}


def fitted(
    name: str, model: str, flags: argparse.Namespace, train: Any, valid: Any = None, **settings: Any
) -> Any:
    limit, out = {"minutes": flags.minutes} if flags.minutes else {}, Path(flags.out) / name
    if (out / "manifest.json").exists():
        return load(out)
    return fit(
        "autoencode",
        model,
        train,
        valid,
        out=out,
        resume=True,
        progress=True,
        threads=flags.threads,
        **settings | limit,
    )


def sentences(given: argparse.Namespace) -> None:
    train, valid, test = (
        read(str(DATA / "tag" / f"en_ewt-ud-{part}.conllu.xz")) for part in ("train", "dev", "test")
    )
    alone = fitted("sentences-decoder", "decoder", given, train, valid, **TEXTS)
    vector = fitted("sentences-lstm", "lstm", given, train, valid, **TEXTS, free_bits=0.2)
    plain = fitted("sentences-plain", "lstm", given, train, valid, **TEXTS, variational=False)
    first, second, third = (model.evaluate(test, draws=16) for model in (alone, vector, plain))
    report, short = second["report"], second["rewritten"]["short"]
    chance = second["rewritten"]["by_chance"]["short"]
    write_row(
        "autoencode.py",
        f"EWT, sentences: variational lstm of {vector.model.size() / 1e6:.2f} M, {report['said']:.1f} nats of KL, "
        f"{report['active']} of {report['latent']} numbers active, importance weighted, {vector.metrics['seconds'] / 60:.0f} min",
        f"{second['nats_per_symbol']:.4f} nats/word",
        f"the decoder alone ({alone.model.size() / 1e6:.2f} M): {first['nats_per_symbol']:.4f}",
        f"{second['nats_per_symbol'] / first['nats_per_symbol'] - 1:+.1%}",
    )
    write_row(
        "autoencode.py",
        "EWT: sentences up to 8 words written again, variational lstm",
        f"{short['exact']:.2%} exact, BLEU {short['bleu']:.1f}",
        f"from another's vector: {chance['exact']:.2%}, BLEU {chance['bleu']:.1f}",
        f"plain lstm: {third['rewritten']['short']['exact']:.2%}, "
        f"BLEU {third['rewritten']['short']['bleu']:.1f}",
    )
    for name, model in (("plain", plain), ("variational", vector)):
        print(
            name,
            *(
                each["text"]
                for each in model.interpolate(
                    ["Thank you very much !", "The food is very good ."], count=7
                )["items"]
            ),
            sep="\n  ",
        )


def drawings(given: argparse.Namespace) -> None:
    train, test = read(str(DATA / "sketch" / "quickdraw344x25_stroke3.npz")).split(
        0.9, 0.1, how="shuffle"
    )
    settings = {"epochs": 12.0, "width": 256, "dropout": 0.1, "rows": 32, "length": 48}
    alone = fitted("drawings-decoder", "decoder", given, train, **settings)
    vector = fitted("drawings-lstm", "lstm", given, train, **settings, latent=64, free_bits=0.4)
    found, other = (bound(model.model, model.samples(test)) for model in (vector, alone))
    difference = interval(np.stack([found.written - other.written, found.symbols], 1))
    record = vector.evaluate(test, draws=16)
    write_row(
        "autoencode.py",
        f"Quick, Draw!: nats a point to draw again, variational lstm of {vector.model.size() / 1e6:.2f} M, "
        f"{record['report']['said']:.1f} nats of KL, {vector.metrics['seconds'] / 60:.0f} min",
        f"{found.written.sum() / found.symbols.sum():.4f} (with the vector's, importance weighted: {record['nats_per_symbol']:.4f})",
        f"the decoder alone: {other.written.sum() / other.symbols.sum():.4f}",
        f"{difference[0]:+.4f} to {difference[1]:+.4f} (95 %)",
    )
    out, some = Path(given.out), test[:10].main
    again = [each["numbers"] for each in vector.reconstruct(test[:10])["items"]]
    write_svg(
        [*(some.raw(s) for s in range(10)), *map(np.array, again)],
        out / "again.svg",
        columns=10,
        size=72,
    )
    corners = [some.raw(s) for s in (0, 5, 8, 9)]
    grid = vector.interpolate(corners, ends="1,2,3,4", count=5, temperature=0.05)["items"]
    drawn = [np.array(each["numbers"]) for each in grid]
    write_svg(drawn, out / "grid.svg", columns=5, size=72)


def messages(given: argparse.Namespace) -> None:
    data = read(
        str(DATA / "classify" / "SMSSpamCollection"), format="tsv", columns="label,text"
    ).distinct()
    train, test = data.split(0.9, 0.1, how="stratify")
    model = fitted("messages", "decoder", given, train, condition="label", **TEXTS | {"width": 128})
    judge = fit("classify", "naive-bayes", train)
    shares = {}
    for label in ("spam", "ham"):
        written = model.generate(label=label, count=500, length=60)["items"]
        texts = Sequences.of([each["text"] for each in written])
        found = judge.predict(texts)["items"]
        shares[label] = np.mean([each["label"] == label for each in found])
    write_row(
        "autoencode.py",
        f"SMS: a writer told the label, {model.metrics['seconds'] / 60:.1f} min: taken by naive Bayes for what it was told to be",
        f"spam {shares['spam']:.1%}, ham {shares['ham']:.1%}",
        "",
        "of 500 each",
    )
    record = model.evaluate(test)
    peer = judge.evaluate(test)
    write_row(
        "autoencode.py",
        "SMS: the same writer as a classifier, by Bayes' rule",
        f"{record['classified']['accuracy']:.2%}",
        f"naive Bayes: {peer['accuracy']:.2%}",
        f"of {len(test)} messages",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--out", default="runs/benchmark-autoencode")
    chosen = parser.parse_args()
    PARTS = {"sentences": sentences, "drawings": drawings, "messages": messages}
    for part in chosen.parts or PARTS:
        PARTS[part](chosen)
