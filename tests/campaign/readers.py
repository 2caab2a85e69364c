"""Malformed files for every reader: only our errors may come.

    python -m tests.campaign.readers --count 10000 [--seed 0] [--only svg,midi]

Each file is a small real one after accidents: bits flipped, pieces cut, repeated, spliced, numbers that
nobody expects. It is read under 1.5 GB of address space and 10 s of processor time.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.campaign.children import Report, both, child, together
from tests.campaign.mutations import mutate

SLOW = ("parquet", "restore")  # each starts a process, or decodes symbol by symbol
MODULE = "tests.campaign.readers"


def cases() -> list[str]:
    """The readers, by name."""
    from tests.data.test_readers import CASES

    return [
        *CASES,
        "labelled",
        "pixels",
        "roll",
        "series",
        "vec",
        "glove",
        "binary",
        "arpa",
        "questions",
        "tokenizer",
        "sentencepiece",
        "restore",
    ]


def sources(case: str) -> tuple[str, list[bytes]]:
    """A name for the file, and whole ones."""
    from tests.data.test_readers import CASES, seeds
    from tests.families import FAMILIES, model_file, source
    from tests.terminal import prose

    vectors = b"the 0.5 -1.25e-3 2\ncat 1 2 3\ndog 4 5 6\n"
    rows = "".join(f"2024-01-{day:02d},{day * 1.5},{-day}\n" for day in range(1, 29))
    known: dict[str, tuple[str, list[bytes]]] = {
        "labelled": ("a.txt", [b"HAM:entry is it free ?\nSPAM:prize win a prize\n" * 3]),
        "pixels": ("a.png", seeds("png")),
        "roll": ("a.mid", seeds("midi")),
        "series": ("a.csv", [f"ds,y,x\n{rows}".encode()]),
        "vec": ("a.vec", [b"3 3\n" + vectors]),
        "glove": ("a.glove", [vectors]),
        "binary": ("a.bin", [b"2 2\nthe " + bytes(8) + b"\ncat " + b"\0\0\x80\x3f" * 2 + b"\n"]),
        "arpa": (
            "a.arpa",
            [
                b"\\data\\\nngram 1=4\nngram 2=2\n\n\\1-grams:\n-1.0\t<unk>\n-99\t<s>\t-0.3\n"
                b"-0.5\tcat\t-0.2\n-0.5\t</s>\n\n\\2-grams:\n-0.1\t<s> cat\n-0.2\tcat </s>\n\n\\end\\\n"
            ],
        ),
        "questions": ("a.txt", [b": capital\nparis france rome italy\nrome italy paris france\n"]),
        "tokenizer": ("tokenizer.json", [source(name).encode() for name in FAMILIES]),
        "sentencepiece": ("a.model", [model_file(1), model_file(2)]),
        "restore": ("a.srt", [prose(3, 1).encode()]),
    }
    return known[case] if case in known else (CASES[case][0], seeds(case))


def reader(case: str, place: Path) -> Callable[[Path], Any]:
    """What reads a file of a case."""
    from seriatim.data.formats import read_files
    from seriatim.tasks import task
    from tests.data.test_readers import CASES

    if case == "series":
        return lambda path: task("forecast").cut.sequences(str(path))
    if case in ("vec", "glove", "binary"):
        from seriatim.tasks.words.files import read_vectors

        return lambda path: read_vectors(path)
    if case == "arpa":
        from seriatim.models.ngrams.arpa import read_arpa

        return lambda path: read_arpa(str(path))
    if case == "questions":
        from seriatim.tasks.words.questions import read_questions

        return lambda path: read_questions(str(path))
    if case in ("tokenizer", "sentencepiece"):
        return cutter()
    if case == "restore":
        return restorer(place)
    if case in CASES:
        options = CASES[case][1]
        others = [place / "whole.en"] if case == "parallel" else []
        return lambda path: read_files(path, *others, **options)
    return lambda path: read_files(path, input_format=case)


def cutter() -> Callable[[Path], Any]:
    """What opens a tokenizer, and cuts a text by it."""
    from seriatim.codecs.options import CodecOptions
    from seriatim.codecs.symbols import fit_codec
    from seriatim.data.sequences import Field
    from tests.families import TEXT

    def read(path: Path) -> Any:
        """The symbols of a text, and what they do not tell."""
        column = Field.of_text([TEXT])
        codec = fit_codec(column, CodecOptions(unit="subword", tokenizer=str(path)))
        return codec.side_nats(column, codec.encode(column))

    return read


def restorer(place: Path) -> Callable[[Path], Any]:
    """What restores a text that a small model has compressed."""
    import seriatim as st
    from tests.terminal import prose

    (place / "train.txt").write_text(prose(20, 1))
    model = st.fit("language", "markov", place / "train.txt", order=2)
    (place / "plain.txt").write_text(prose(3, 2))
    model.compress(place / "plain.txt", out=str(place / "whole.srt"))
    return lambda path: model.restore(path, out=str(place / "restored.txt"))


def prepare(case: str, place: Path) -> Callable[[int, int], bool]:
    """Within a child: what one case is."""
    from seriatim.errors import SeriatimError

    name, whole = sources(case)
    (place / "whole.en").write_bytes(whole[0])
    read, path = reader(case, place), place / name
    if case == "restore":
        whole = [(place / "whole.srt").read_bytes()]
    for content in whole:  # libraries are loaded, and what is whole is read
        path.write_bytes(content)
        with suppress(SeriatimError):  # some are the beginning of a longer one
            read(path)
        (place / "restored.txt").unlink(missing_ok=True)

    def one(number: int, seed: int) -> bool:
        dice = random.Random(f"{case} {seed} {number}")
        path.write_bytes(mutate(whole[number % len(whole)], dice))
        (place / "restored.txt").unlink(missing_ok=True)
        try:
            read(path)
        except SeriatimError as error:
            assert str(error) and json.dumps(error.record())
            return False
        return True

    return one


def run(count: int, seed: int = 0, only: str = "") -> Report:
    """So many malformed files for each reader; figures for each, and what went wrong."""
    wanted = only.split(",") if only else cases()
    return together(both(MODULE, wanted, count, seed, SLOW))


def main() -> int:
    """As a command."""
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:], prepare)
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    return int(bool(run(asked.count, asked.seed, asked.only)["problems"]))


if __name__ == "__main__":
    sys.exit(main())
