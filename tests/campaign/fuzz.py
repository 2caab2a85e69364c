"""Coverage-guided fuzzing of the parsers that are written here, by atheris: only our errors may come.

    python -m tests.campaign.fuzz svg --seconds 600          (make fuzz: all of them)

What is found is kept in tests/campaign/found/PARSER, and read again by the short form of the campaign.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

PARSERS = ("svg", "midi", "conllu", "columns", "csv", "tsv", "jsonl", "quickdraw", "strokes")
PARSERS += ("series", "labelled", "vec", "glove", "binary", "arpa", "questions")
FOUND = Path(__file__).parent / "found"
WRITTEN_HERE = ["seriatim.data", "seriatim.models.ngrams.arpa", "seriatim.tasks.words"]
MOST = 4096  # bytes of an input


def within(parser: str, seconds: int, place: Path) -> None:
    """In a process of its own, which atheris ends."""
    import atheris

    with atheris.instrument_imports(include=WRITTEN_HERE):
        import seriatim.data.columns
        import seriatim.data.formats.conllu
        import seriatim.data.formats.delimited
        import seriatim.data.formats.jsonl
        import seriatim.data.formats.midi
        import seriatim.data.formats.strokes
        import seriatim.data.formats.svg
        import seriatim.data.formats.text
        import seriatim.data.series
        import seriatim.models.ngrams.arpa
        import seriatim.tasks.words.files
        import seriatim.tasks.words.questions  # noqa: F401
    from seriatim.errors import SeriatimError
    from tests.campaign.readers import reader, sources

    name, whole = sources(parser)
    corpus = place / "corpus"
    corpus.mkdir()
    for number, content in enumerate(whole):
        (corpus / str(number)).write_bytes(content[:MOST])
    (place / "whole.en").write_bytes(whole[0])
    read, path = reader(parser, place), place / name

    def one(content: bytes) -> None:
        """One input."""
        path.write_bytes(content)
        try:
            read(path)
        except SeriatimError as error:
            str(error)

    kept = FOUND / parser
    kept.mkdir(parents=True, exist_ok=True)
    limits = [f"-max_total_time={seconds}", f"-max_len={MOST}", "-timeout=10", "-rss_limit_mb=1500"]
    atheris.Setup([sys.argv[0], str(corpus), f"-artifact_prefix={kept}/", *limits], one)
    atheris.Fuzz()


def main() -> int:
    """As a command: a process for each parser."""
    command = argparse.ArgumentParser(description=__doc__)
    command.add_argument("parsers", nargs="*", default=list(PARSERS))
    command.add_argument("--seconds", type=int, default=600)
    command.add_argument("--within", default="", help=argparse.SUPPRESS)
    asked = command.parse_args()
    if asked.within:
        within(asked.parsers[0], asked.seconds, Path(asked.within))
        return 0
    wrong = []
    for parser in asked.parsers:
        with tempfile.TemporaryDirectory(prefix="fuzz-") as place:
            one = [sys.executable, "-m", "tests.campaign.fuzz", parser, "--within", place]
            found = subprocess.run(
                [*one, "--seconds", str(asked.seconds)], capture_output=True, text=True
            )
        lines = found.stderr.strip().splitlines()
        done = next((line for line in reversed(lines) if line.startswith(("Done", "#"))), "")
        print(f"{parser:<10} {'found something' if found.returncode else 'nothing found'}  {done}")
        if found.returncode:
            wrong.append(parser)
            print("\n".join(lines[-15:]), flush=True)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
