"""Corpora from Python's own library: documentation, code, lines by module, tokens."""

from __future__ import annotations

import ast
import builtins
import io
import keyword
import os
import sysconfig
import tokenize
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from seriatim.data.corpora.sources import MOST_SEED, settings_of
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import ConfigError, DataError
from seriatim.settings import build, option

SKIPPED = {  # folders of the standard library that are not part of it, or hold tests and tables
    "site-packages",
    "dist-packages",
    "__pycache__",
    "test",
    "tests",
    "idlelib",
    "lib2to3",
    "turtledemo",
    "pydoc_data",
    "encodings",
}


DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


LABELLED = (
    "argparse",
    "difflib",
    "doctest",
    "imaplib",
    "inspect",
    "ipaddress",
    "mailbox",
    "pickle",
    "pydoc",
    "statistics",
    "tarfile",
    "typing",
)


LEAST = 10  # characters of a line worth a label


BUILT_IN = {name for name in dir(builtins) if not name.startswith("_")}


Item = TypeVar("Item")


def python_docs(most: int = 1_500_000) -> Sequences:
    """The docstrings of the standard library: at most `most` characters of English."""
    return stream("python-docs", (text for _, tree in modules() for text in docstrings(tree)), most)


def python_code(most: int = 3_000_000) -> Sequences:
    """The source of the standard library, module after module: at most `most` characters of Python."""
    return stream("python-code", (source for source, _ in modules()), most)


def stream(origin: str, texts: Iterable[str], most: int) -> Sequences:
    """Texts one after another, each one once with a blank line behind it, cut to `most` characters."""
    if most < 1:
        raise ConfigError("most must be at least 1 character", got=most)
    parts: dict[str, None] = {}
    size = 0
    for text in texts:
        part = text.strip("\n") + "\n\n"
        if not part.isspace() and part not in parts:
            parts[part] = None
            size += len(part)
        if size >= most:
            break
    if not parts:
        raise no_library()
    return Sequences({"text": Field.of_text(["".join(parts)[:most]])}, by="stream", origin=origin)


def no_library() -> DataError:
    """The error where Python is installed without its source."""
    return DataError(
        "the source of the Python standard library is not on this machine",
        got=sysconfig.get_path("stdlib"),
        do="Use a Python that is installed with its .py files, or give a file of your own",
    )


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Source and syntax tree of every module, in order of path; what cannot be read or parsed is left out."""
    return filter(None, map(module, module_paths(Path(sysconfig.get_path("stdlib")))))


def module(path: Path) -> tuple[str, ast.Module] | None:
    """The source and syntax tree of one, if there is."""
    try:
        with tokenize.open(path) as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of invalid escapes in old modules
            source = file.read()  # line endings become \n
            return source, ast.parse(source)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None


def module_paths(root: Path) -> list[Path]:
    """The modules below a folder, sorted."""
    paths = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED]
        paths += [Path(folder, name) for name in files if name.endswith(".py")]
    return sorted(paths)


def docstrings(node: ast.AST) -> Iterator[str]:
    """What a module, its classes and its functions say about themselves, in reading order."""
    text = ast.get_docstring(node, clean=True) if isinstance(node, DOCUMENTED) else None
    if text:
        yield text.replace("\r\n", "\n").replace("\r", "\n")
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.stmt, ast.excepthandler)):
            yield from docstrings(child)


@dataclass(frozen=True)
class Drawn:
    """Some lines of a dozen modules."""

    lines: int = option(10_000, "lines at most, drawn at random", least=1, most=1_000_000)
    seed: int = option(0, "random numbers: which lines, in which order", least=0, most=MOST_SEED)

    def of(self, found: dict[Item, str]) -> list[Item]:
        """So many of what was found, in random order."""
        if not found:
            raise no_library()
        items = list(found)
        return [
            items[i] for i in np.random.default_rng(self.seed).permutation(len(items))[: self.lines]
        ]


def python_lines(description: str = "python-lines") -> Sequences:
    """Lines of a dozen modules, the module as `label`: no comments, nothing very short, and a line
    that comes again counts once."""
    drawn = build(Drawn, settings_of(description), where="python-lines")
    home: dict[str, str] = {}
    for name, source in labelled_modules():
        for line in map(str.strip, source.split("\n")):
            if len(line) >= LEAST and not line.startswith("#"):
                home.setdefault(line, name)
    lines = drawn.of(home)
    return Sequences(
        {"text": Field.of_text(lines), "label": Field.of_labels(home[line] for line in lines)},
        origin=description,
    )


def python_tokens(description: str = "python-tokens") -> Sequences:
    """The tokens of their logical lines, the kinds as `tags`: keyword, builtin, name, function,
    class, string, number, operator, comment."""
    drawn = build(Drawn, settings_of(description), where="python-tokens")
    rows = drawn.of(
        {row: name for name, source in labelled_modules() for row in logical_lines(source)}
    )
    tokens, tags = ([[pair[place] for pair in row] for row in rows] for place in (0, 1))
    return Sequences(
        {"tokens": Field.of_symbols(tokens), "tags": Field.of_symbols(tags)},
        unit="token",
        origin=description,
    )


def labelled_modules() -> Iterator[tuple[str, str]]:
    """Name and source of a dozen modules with many lines."""
    for name in LABELLED:
        found = module(Path(sysconfig.get_path("stdlib"), name + ".py"))
        if found:
            yield name, found[0]


def logical_lines(source: str) -> Iterator[tuple[tuple[str, str], ...]]:
    """Tokens with their kinds, a logical line at a time; without lines that are only a comment, or
    have a string over several lines."""
    row: list[tuple[str, str]] = []
    for kind, text, *_ in tokenize.generate_tokens(io.StringIO(source).readline):
        if text.strip():
            row.append((text, kind_of(tokenize.tok_name[kind], text, row[-1][0] if row else "")))
        if kind == tokenize.NEWLINE and not any("\n" in text for text, _ in row):
            yield tuple(row)
        if kind == tokenize.NEWLINE or all(kind == "comment" for _, kind in row):
            row = []


def kind_of(kind: str, text: str, before: str) -> str:
    """How an editor would colour a token; a name is known by the token before it."""
    if kind != "NAME":
        return "string" if "STRING" in kind else {"OP": "operator"}.get(kind, kind.lower())
    if keyword.iskeyword(text):
        return "keyword"
    if before in ("def", "class"):
        return {"def": "function"}.get(before, before)
    return "builtin" if text in BUILT_IN and before != "." else "name"
