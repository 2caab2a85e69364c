"""The house plan: reading order is import order, and the door is light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import seriatim

PACKAGE = Path(seriatim.__file__).parent
ROOMS = [
    "errors",
    "shapes",
    "settings",
    "records",
    "progress",
    "storage",
    "parallel",
    "compiling",
    "data",
    "codecs",
    "batches",
    "layers",
    "distributions",
    "models",
    "training",
    "decoding",
    "measuring",
    "show",
    "runs",
    "tasks",
    "audit",
    "conforming",
    "fitting_options",
    "fitting",
    "prospects",
    "verdict",
    "leaderboard",
    "plotting",
    "faces",
    "report",
    "comparison",
    "tracking",
    "verbs",
    "api",
    "sklearn",
    "cli",
    "__main__",
]


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(tree: ast.AST) -> Iterator[str]:
    """Modules of seriatim that a file imports, at its top or in a function, or names by a string;
    what is imported for types alone does not count."""
    typing = {
        id(each)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for each in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in typing:
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("seriatim."):
            yield node.module.split(".")[1]
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            named = re.fullmatch(r"seriatim\.(\w+)[\w.]*:[\w.]*", node.value)
            if named:
                yield named[1]


def test_every_module_has_a_place_in_the_plan():
    found = {room(path) for path in PACKAGE.rglob("*.py")} - {"__init__"}
    assert found == set(ROOMS)


def test_a_module_imports_only_from_rooms_above_it():
    for path in PACKAGE.rglob("*.py"):
        if path != PACKAGE / "__init__.py":
            for name in imports(ast.parse(path.read_text())):
                assert ROOMS.index(name) <= ROOMS.index(room(path)), (
                    f"{path.relative_to(PACKAGE)} imports {name}"
                )


def test_nothing_that_could_execute_a_file_is_used():
    forbidden = {"pickle", "joblib", "shelve", "marshal", "dill"}
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text())
        names = {
            alias.name.split(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Import)
            for alias in node.names
        }
        calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        assert not names & forbidden and not calls & {"eval", "exec", "torch.load", "__import__"}, (
            path
        )


def test_files_stay_short_enough_to_read():
    assert not [
        path.name for path in PACKAGE.rglob("*.py") if len(path.read_text().splitlines()) > 700
    ]


def test_public_names_are_few_and_all_there():
    assert len(seriatim.__all__) <= 17
    assert all(hasattr(seriatim, name) for name in seriatim.__all__)


def test_importing_prints_nothing_and_does_not_load_torch():
    heavy = {"torch", "numpy", "altair", "polars", "pandas", "narwhals"}
    program = f"import sys, seriatim; assert not {heavy} & set(sys.modules); print(end='')"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
