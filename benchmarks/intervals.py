"""Do intervals hold? Nominal 95 %, over 200 re-cuts of three texts and of two labelled sets.

    python benchmarks/intervals.py [--cuts 200]

A model is fitted to the first half of the data and judges the second half once, symbol by symbol or item
by item: that mean is the truth. Then a test is cut from the second half again and again, as `compare`
cuts it (ten spread regions of a text, or items at random), and its interval either holds the truth
or does not. The peer is what is usual: blocks of 200 symbols, however long the text remembers.
"""

from __future__ import annotations

import argparse
import lzma
import os
import tempfile
from pathlib import Path

import numpy as np
from record import write_row

import seriatim as st
from seriatim.measuring.resampling import (
    FIRST_BLOCK,
    drawn_over_regions,
    halves_of,
    interval,
    middle_of,
    sums_between,
    wilson,
)

DATA = Path(os.environ.get("SERIATIM_DATA", Path(__file__).parent.parent.parent / "shared/data"))
REGIONS, TEST = 10, 100_000  # of a test, and its symbols: at most a twentieth of what there is


def texts(folder: Path) -> dict[str, str]:
    """Three texts: a play, an encyclopaedia, a manual."""
    wiki = folder / "wiki.txt"
    with lzma.open(DATA / "text/wiki100.txt.xz", "rt") as file:
        wiki.write_text(file.read(6_000_000))
    plays = str(DATA / "text/tinyshakespeare.txt")
    return {"tiny Shakespeare": plays, "wiki, 6 MB": str(wiki), "python-docs": "python-docs"}


def text_coverage(path: str, model: str, cuts: int) -> tuple[float, float]:
    """The share of intervals that hold the truth: over regions, and with blocks of 200."""
    data = st.read(path)
    half = len(data.main.flat) // 2
    fitted = st.fit("language", model, data.part(0, half))
    loss = fitted.measure(data.part(half, 2 * half)).loss
    truth, generator = loss.mean(), np.random.default_rng(0)
    size = min(TEST, len(loss) // 20) // REGIONS
    held = np.zeros(2)
    for _ in range(cuts):
        room = len(loss) // REGIONS - size
        begins = np.arange(REGIONS) * (len(loss) // REGIONS) + generator.integers(0, room, REGIONS)
        some = np.concatenate([loss[begin : begin + size] for begin in begins])
        ours = middle_of(drawn_over_regions(halves_of(some, REGIONS)))
        usual = interval(sums_between(some, np.arange(0, len(some), FIRST_BLOCK)))
        held += [low <= truth <= high for low, high in (ours, usual)]
    return held[0] / cuts, held[1] / cuts


def label_coverage(path: str, model: str, cuts: int, **reading: str) -> float:
    """The share of Wilson's intervals of a tenth of the other half that hold its accuracy."""
    data = st.read(path, wants="label", **reading)
    generator = np.random.default_rng(0)
    order = generator.permutation(len(data))
    half = len(order) // 2
    fitted = st.fit("classify", model, data[np.sort(order[:half])])
    measured = fitted.measure(data[np.sort(order[half:])])
    right = measured["answers"] == measured["truth"]
    held = 0
    for _ in range(cuts):
        some = generator.choice(right, len(right) // 10, replace=False)
        low, high = wilson(int(some.sum()), len(some))
        held += low <= right.mean() <= high
    return held / cuts


def main() -> None:
    """Every data set with two cheap rungs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuts", type=int, default=200)
    cuts = parser.parse_args().cuts
    with tempfile.TemporaryDirectory() as folder:
        for name, path in texts(Path(folder)).items():
            for model in ("kneser-ney", "unigram"):
                ours, usual = text_coverage(path, model, cuts)
                write_row(
                    "intervals.py",
                    f"95 % intervals of {model} on {name}, {cuts} re-cuts",
                    f"hold in {100 * ours:.1f} %",
                    f"blocks of {FIRST_BLOCK}: {100 * usual:.1f} %",
                    "90 to 97 % wanted",
                )
    sets = {
        "rt-polarity": (str(DATA / "classify/rt-polarity.tsv"), {}),
        "SMS": (
            str(DATA / "classify/SMSSpamCollection"),
            {"columns": "label,text", "input_format": "tsv"},
        ),
    }
    for name, (path, reading) in sets.items():
        held = label_coverage(path, "naive-bayes", cuts, **reading)
        write_row(
            "intervals.py",
            f"95 % intervals of naive-bayes on {name}, {cuts} re-cuts",
            f"hold in {100 * held:.1f} %",
            "Wilson's is the field's own",
            "90 to 97 % wanted",
        )


if __name__ == "__main__":
    main()
