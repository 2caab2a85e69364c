"""The command line as a test sees it: called in this process, with what it prints, how it ends and what it leaves behind."""

import contextlib
import hashlib
import io
import json
import random
from dataclasses import dataclass
from pathlib import Path

from seriatim.cli.main import main

SMALL = ("--updates", "3", "--width", "8", "--length", "8", "--rows", "2")
VOCABULARY = [
    "the",
    "a",
    "cat",
    "dog",
    "bird",
    "sat",
    "slept",
    "on",
    "under",
    "mat",
    "log",
    "tree",
    "and",
    "then",
    "it",
    "ran",
    "home",
]


@dataclass
class Answer:
    code: int
    out: str
    err: str

    def json(self):
        return json.loads(self.out)


class Screen(io.StringIO):
    """A terminal (with TERM=dumb, 80 columns wide and without colours)."""

    def isatty(self) -> bool:
        return True


def call(*arguments, out: io.StringIO | None = None) -> Answer:
    """An exception that comes out of this is a traceback that a user would see."""
    out, err = out or io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(each) for each in arguments])
        except SystemExit as end:
            code = end.code or 0
    return Answer(code, out.getvalue(), err.getvalue())


def good(*arguments, out: io.StringIO | None = None) -> Answer:
    answer = call(*arguments, out=out)
    assert answer.code == 0, answer.err
    return answer


def tree(folder: Path) -> dict[str, str]:
    """Everything below a folder, with the checksums of files."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else "folder"
        for path in folder.rglob("*")
    }


def refused(*arguments, code: int | None = None, words: str = "", json_too: bool = True) -> str:
    """A command that must fail as it should: a code, one line, nothing written; the same in JSON. Gives back the line."""
    before = tree(Path.cwd())
    answer = call(*arguments)
    assert answer.code in ((1, 2) if code is None else (code,)), (
        f"exit code {answer.code}: {answer.out}{answer.err}"
    )
    assert answer.out == "" and tree(Path.cwd()) == before
    *read, error_line = answer.err.splitlines()
    # how a file was read, and what its unit is, may be said before
    assert all(": read as " in line or line.startswith("unit: ") for line in read)
    assert (
        error_line.startswith("seriatim: ") and answer.err.endswith("\n") and len(answer.err) < 2000
    )
    assert words in answer.err
    if json_too:
        record = call(*arguments, "--format", "json")
        *notes, last = record.err.splitlines()
        assert all(line.startswith("unit: ") for line in notes)
        error = json.loads(last)["error"]
        assert record.code == answer.code and record.out == "" and tree(Path.cwd()) == before
        assert (
            error["what"]
            and error["what"].rstrip(".") in answer.err
            and error["kind"].endswith("Error")
        )
    return error_line + "\n"


def prose(lines: int, seed: int) -> str:
    dice = random.Random(seed)
    return "".join(
        " ".join(dice.choices(VOCABULARY, k=dice.randint(3, 8))).capitalize() + ".\n"
        for _ in range(lines)
    )


def furnish(folder: Path) -> Path:
    """Texts and three small runs in a folder, for tests to read."""
    (folder / "book.txt").write_text(prose(60, 1))
    (folder / "other.txt").write_text(prose(20, 2) + "Quizzical Übermut!\n")
    good("fit", "language", "markov", folder / "book.txt", "--order", 2, "--out", folder / "markov")
    good("fit", "language", "lstm", folder / "book.txt", *SMALL, "--out", folder / "lstm")
    good(
        "fit",
        "language",
        "markov",
        folder / "book.txt",
        "--by",
        "line",
        "--unit",
        "word",
        "--minimum-count",
        2,
        "--out",
        folder / "lines",
    )
    return folder
