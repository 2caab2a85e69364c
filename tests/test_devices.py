"""Networks on other devices: what the code says of them, and tests/on_second_device.py.

Those run in a process of its own: torch learns of a device once and for all, and may count its devices
when it first finds a gradient. Neither is to be so in the process of the other tests.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import torch
from torch.utils._device import _device_constructors

import seriatim
from seriatim.tasks import tasks

PACKAGE = Path(seriatim.__file__).parent
ROOMS = ("layers", "distributions", "models", "training")  # all in them may be abroad
# what makes a tensor: all that takes a device, as torch has it, and what can only make one of the CPU
MAKERS = {each.__name__ for each in _device_constructors()}
MAKERS |= {"from_numpy", "frombuffer", "Generator"}
# what is made on the CPU there, and why
AT_HOME = {
    "layers/source_ngrams.py:Grams.count": "counted once, into a buffer",
    "layers/stepping.py:": "compiled for the CPU, and used there alone",
    "models/mixture.py:": "mixes what was brought home",
    "models/ngrams/": "counts",
    "models/pretrained.py:checksum_of": "bytes of a checksum",
    "models/reader.py:Reader.to_bytes": "bytes of a file",
    "tasks/forecast/models/network.py:ForecastNetwork.forecast": "levels, asked at home",
    "tasks/labels/models/beside.py:out_of_fold": "what counting says, a row of a batch each",
    "tasks/sets/models.py:Frequencies.": "counts",
    "tasks/sets/models.py:PooledCoins.": "mixes what was brought home",
}


@cache
def trees() -> dict[str, ast.Module]:
    """Every file of the package by its place in it."""
    files = PACKAGE.rglob("*.py")
    return {str(each.relative_to(PACKAGE)): ast.parse(each.read_text()) for each in files}


def base(node: ast.expr) -> str:
    """The last name of a base class."""
    return ast.unparse(node).partition("[")[0].rpartition(".")[2]


@cache
def with_networks() -> dict[str, ast.Module]:
    """The files of which something may compute on another device: rooms that are all about networks,
    and wherever a class is derived from one of torch.nn."""
    classes = [
        (file, node)
        for file, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    ]
    networks, known = set(dir(torch.nn)), 0
    while known < len(networks):
        known = len(networks)
        networks |= {node.name for _, node in classes if networks & set(map(base, node.bases))}
    found = {file for file, node in classes if node.name in networks}
    found |= {file for file in trees() if file.split("/")[0] in ROOMS}
    return {file: trees()[file] for file in found}


def homeless(node: ast.AST, name: str = "") -> Iterator[str]:
    """The functions, but for those that lay a network out, that make a tensor without a device."""
    for each in ast.iter_child_nodes(node):
        inner = name
        if isinstance(each, (ast.FunctionDef, ast.ClassDef)):
            inner = f"{name}.{each.name}".strip(".")
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
            ours = isinstance(each.func.value, ast.Name) and each.func.value.id == "torch"
            told = "device" in {keyword.arg for keyword in each.keywords}
            if ours and each.func.attr in MAKERS and not told and not name.endswith("__init__"):
                yield name
        yield from homeless(each, inner)


def test_networks_say_where_they_make_a_tensor():
    found = {f"{file}:{each}" for file, tree in with_networks().items() for each in homeless(tree)}
    assert not [each for each in found if not each.startswith(tuple(AT_HOME))]
    for excused in AT_HOME:
        assert any(each.startswith(excused) for each in found), f"{excused} need not be excused"


def test_that_reads_every_network_and_would_find_a_tensor_without_a_device():
    for task in tasks():
        for rung in task.rungs.values():
            file = rung.implementation.partition(":")[0].replace(".", "/") + ".py"
            if not rung.counts and task.name != "words":  # whose loop is compiled for the CPU
                assert file.removeprefix("seriatim/") in with_networks(), file
    for file, tree in with_networks().items():  # by no other name
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == "torch":
                assert not MAKERS & {each.name for each in node.names}, file
    wrong = "class A:\n def f(self):\n  return torch.zeros(3) + torch.ones(3, device=self.device)"
    assert list(homeless(ast.parse(wrong))) == ["A.f"]


def passes_there(which: str) -> None:
    """All of its tests pass, and there are some."""
    file = Path(__file__).with_name("on_second_device.py")
    words = [sys.executable, "-m", "pytest", str(file), "-m", which, "-n", "0", "--tb", "short"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=file.parent.parent)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout


def test_one_network_of_each_mixer_and_what_a_device_must_refuse():
    passes_there("not slow")


@pytest.mark.slow
def test_every_network_and_every_verb_of_every_room():
    passes_there("slow")
