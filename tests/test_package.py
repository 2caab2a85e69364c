"""The package: what it says of itself, and that what is built of it can be installed and run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import seriatim

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BUILD = "from setuptools import build_meta as b; print(b.build_sdist('dist')); print(b.build_wheel('dist'))"


def run(*command: object, folder: Path, **more: str) -> str:
    """What a command prints; it must go well."""
    settings = {"cwd": folder, "env": os.environ | more, "capture_output": True, "text": True}
    done = subprocess.run([sys.executable, *map(str, command)], check=False, **settings)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_promises_no_more_than_was_run():
    said = [
        each for each in PROJECT["classifiers"] if each.startswith(("Operating", "Programming"))
    ]
    assert said == [
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3.11",
    ]


def test_the_citation_names_this_version():
    assert f"\nversion: {seriatim.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_every_extra_is_in_all_of_them_and_in_the_docs():
    extras = PROJECT["optional-dependencies"]
    offered = set(extras) - {"all", "docs", "test", "benchmark"}
    assert extras["all"] == [f"seriatim[{','.join(each for each in extras if each in offered)}]"]
    page = (ROOT / "docs" / "install.md").read_text()
    assert all(f"`{each}`" in page for each in offered)


@pytest.mark.slow
def test_wheel_and_sdist_are_built_installed_and_run(tmp_path):
    source, first = tmp_path / "source", tmp_path / "first"
    source.mkdir()
    for name in ("seriatim", "pyproject.toml", "README.md", "LICENSE"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    run("-c", BUILD, folder=source)
    with tarfile.open(next((source / "dist").glob("*.tar.gz"))) as sdist:
        sdist.extractall(first, filter="data")
    unpacked = next(first.iterdir())
    run("-c", BUILD, folder=unpacked)  # what is built of the sdist is whole
    wheel = next((unpacked / "dist").glob("*.whl"))
    names = zipfile.ZipFile(wheel).namelist()
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "seriatim").rglob("*.py")}
    wanted = {"seriatim/py.typed", "seriatim/typed.pyi", "seriatim/show/pages.js"}
    assert modules | wanted <= set(names)
    site = tmp_path / "site"
    pip = ("-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check")
    run(*pip, "--target", site, wheel, folder=tmp_path)
    program = "import seriatim; print(seriatim.__file__)"
    assert str(site) in run("-c", program, folder=tmp_path, PYTHONPATH=str(site))
    fit = ("-m", "seriatim", "fit", "language", "markov", "markov:length=2000", "--out", "run")
    assert "parameters" in run(*fit, folder=tmp_path, PYTHONPATH=str(site))
    assert (tmp_path / "run" / "card.md").is_file()
