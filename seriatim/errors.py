"""One tree of errors: what is wrong, what was received, what to do.

Anything a user can cause raises one of these. The command line prints the sentences, `--format
json` prints the record, and no traceback is shown. Errors are written in the words of the command
line, `--columns label,text`; through every other door they are told in Python's: see `in_python`.
"""

from __future__ import annotations

import difflib
import re
import traceback
from collections.abc import Iterable, Iterator
from contextlib import ContextDecorator, contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType

TYPED: ContextVar[bool] = ContextVar("typed", default=False)  # whether what is asked for was typed


@contextmanager
def command_line() -> Iterator[None]:
    """At the command line: errors tell of flags."""
    before = TYPED.set(True)
    try:
        yield
    finally:
        TYPED.reset(before)


FLAG = re.compile(
    r"`[^`]*`"  # a command stands as it is
    r"|(?<![\w-])--(?P<name>[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*)"
    r"(?: (?P<value>'[^']*'|\"[^\"]*\"|(?!-)[\w./-]*\w(?:,[\w./-]*\w)*)(?![\w(]))?"
)
SENTENCE = """
all and as are becomes besides can for has have if in is keeps leaves may must needs of on or out
say says sets so that the to would with
"""
GOES_ON = frozenset(SENTENCE.split())  # words behind a flag that are no value of it
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")
HELP = "See the flags with --help", "See `seriatim fit TASK MODEL --help`, or that of the verb"


def in_python(words: str) -> str:
    """The same with flags as keyword arguments.

    >>> in_python("Name them with --columns label,text, or leave out --by; or add --top-k 3")
    'Name them with columns="label,text", or leave out by=; or add top_k=3'
    """
    return FLAG.sub(as_argument, words.replace(*HELP))


def as_argument(found: re.Match[str]) -> str:
    """A flag, and its value if there is one, as a keyword argument."""
    name, value = found["name"], found["value"]
    if name is None:
        return found[0]
    argument = name.replace("-", "_") + "="
    if value is None or value in GOES_ON:
        return argument + ("" if value is None else f" {value}")
    if value in ("true", "false"):
        return argument + value.capitalize()
    plain = NUMBER.fullmatch(value) or value[0] in "'\""
    return argument + (value if plain else f'"{value}"')


class SeriatimError(Exception):
    """Something the user can put right. `str()` gives the sentences, `record()` the JSON."""

    def __init__(
        self,
        what: str,
        *,
        got: object = None,
        do: str = "",
        file: str | None = None,
        line: int | None = None,
    ):
        self.what, self.do = what, do
        self.got = None if got is None else shorten(str(got))
        self.file, self.line = None if file is None else str(file), line
        super().__init__(what)

    def told(self) -> tuple[str, str | None, str]:
        """What is wrong, what was received and what to do, in the words of the door."""
        if TYPED.get():
            return self.what, self.got, self.do
        setting = self.got is not None and isinstance(self, ConfigError)  # data stand as they are
        got = in_python(self.got) if setting and self.got is not None else self.got
        return in_python(self.what), got, in_python(self.do)

    def __str__(self) -> str:
        what, got, do = self.told()
        place = (
            "" if self.file is None else self.file + (f":{self.line}" if self.line else "") + ": "
        )
        parts = (
            [place + what] + ([] if got is None else [f"Received: {got}"]) + ([do] if do else [])
        )
        return " ".join(part if part.endswith(("?", ".", "!")) else part + "." for part in parts)

    def record(self) -> dict:
        """The same as plain JSON."""
        what, got, do = self.told()
        return {
            "error": {
                "kind": type(self).__name__,
                "what": what,
                "received": got,
                "do": do,
                "file": self.file,
                "line": self.line,
            }
        }


class DataError(SeriatimError, ValueError):
    """The data cannot be read or does not fit the task."""


class ConfigError(SeriatimError, ValueError):
    """A setting is unknown, of the wrong type or out of range."""


class RunError(SeriatimError):
    """A run folder is missing, unfinished, damaged or in the way."""


class TrainingError(SeriatimError):
    """Fitting cannot go on, for instance because the loss is not a number."""


EXTRAS = {  # what is installed on demand: module -> the extra that brings it
    "altair": "pictures",
    "vl_convert": "pictures",
    "jiwer": "texts",
    "nltk": "texts",
    "regex": "texts",
    "rouge_score": "texts",
    "sacrebleu": "texts",
    "tensorboard": "tracking",
    "transformers": "pretrained",
}


class Extras(ContextDecorator):
    """While something is done that may need an extra: where it is missing, the error names it."""

    def __enter__(self) -> None:
        """Nothing is imported before it is needed."""

    def __exit__(
        self, kind: type | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        if isinstance(error, ModuleNotFoundError):
            module = (error.name or "").split(".")[0]
            if module in EXTRAS:
                raise missing(module) from None


def require(extra: str) -> None:
    """Refuse at once what would need an extra that is not installed."""
    for module, home in EXTRAS.items():
        if home == extra and not find_spec(module):
            raise missing(module)


def missing(module: str) -> ConfigError:
    """What to install for a module that is not there."""
    return ConfigError(
        f"this needs {module}, which is not installed",
        do=f"pip install 'seriatim[{EXTRAS[module]}]'",
    )


extras = Extras()


def keep(error: DataError, problems: list[DataError] | None, most: int = 1000) -> None:
    """Raise an error, or add it to the problems where they are collected; more than so many are no
    accident."""
    if problems is None or len(problems) >= most:
        raise error
    problems.append(error)


def shorten(text: str, most: int = 200) -> str:
    """Text on one line, cut in the middle when long, so that a 10 MB line stays readable."""
    text = text if len(text) <= 10 * most else text[: 5 * most] + text[-5 * most :]
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 40]} ... {text[-35:]}"


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint: the known name closest to a misspelt one, or the list of all of them."""
    known = list(known)
    close = difflib.get_close_matches(str(name), known, n=1, cutoff=0.6)
    return f"Did you mean {close[0]!r}?" if close else "Choose from: " + ", ".join(known)


def told_by(error: BaseException) -> str:
    """An error in the code of a model of the caller's own, and where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    others = ("site-packages", str(Path(__file__).parent))
    own = [each for each in frames if not any(name in each.filename for name in others)]
    place = (own or frames)[-1]
    words = f"{type(error).__name__}: {error}".rstrip(": ")
    return f"{words} (line {place.lineno} of {place.name})"
