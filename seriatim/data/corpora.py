"""Built-in corpora: real English and real code from the user's own machine, and the generated sources.

Nothing is downloaded. The Python standard library is a text of about ten million characters that every
user has: its docstrings are prose, its source is code. Files are read and parsed, never imported or run.

    open_corpus("python-docs")
    open_corpus("markov:order=3,seed=1")
"""
from __future__ import annotations

import ast
import os
import sysconfig
import tokenize
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

from seriatim.data.sequences import Field, Sequences
from seriatim.data.sources import generate
from seriatim.errors import ConfigError, DataError, nearest

SKIPPED = {  # folders of the standard library that are not part of it, or hold tests and tables
    "site-packages", "dist-packages", "__pycache__", "test", "tests",
    "idlelib", "lib2to3", "turtledemo", "pydoc_data", "encodings",
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


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
        raise DataError("the source of the Python standard library is not on this machine",
                        got=sysconfig.get_path("stdlib"),
                        do="Use a Python that is installed with its .py files, or give a text file of your own")
    return Sequences({"text": Field.of_text(["".join(parts)[:most]])}, by="stream", unit="character", origin=origin)


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Source and syntax tree of every module, in order of path; what cannot be read or parsed is left out."""
    for path in module_paths(Path(sysconfig.get_path("stdlib"))):
        try:
            with tokenize.open(path) as file, warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of invalid escapes in old modules
                source = file.read()  # line endings become \n
                tree = ast.parse(source)
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
        yield source, tree


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


CORPORA = {
    "python-docs": (python_docs, "docstrings of the Python standard library: English prose"),
    "python-code": (python_code, "source of the Python standard library: code"),
    "independent": (generate, "generated: symbols that do not depend on each other"),
    "markov": (generate, "generated: a symbol depends on the few before it"),
    "hidden-markov": (generate, "generated: a symbol depends on a state that is never seen"),
    "brackets": (generate, "generated: nested brackets, which need a stack"),
    "remember": (generate, "generated: lines that end with the symbol they began with"),
}


def is_corpus(name: str) -> bool:
    """Whether a name, with or without parameters behind a colon, is that of a built-in corpus."""
    return name.partition(":")[0] in CORPORA


def open_corpus(name: str) -> Sequences:
    """A built-in corpus: "python-docs", "python-code" or a generated source such as "markov:order=3,seed=1"."""
    kind, colon, _ = name.partition(":")
    if kind not in CORPORA:
        raise ConfigError(f"there is no built-in corpus called {kind!r}", got=name, do=nearest(kind, CORPORA))
    function, _ = CORPORA[kind]
    if function is generate:
        return generate(name)
    if colon:
        raise ConfigError(f"{kind} takes no parameters", got=name, do=f"Write {kind}")
    return function()
