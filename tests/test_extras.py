"""A lean install: what an extra would bring is named where it is missing, and nothing else needs it."""

from __future__ import annotations

import ast
import sys
import tomllib
from pathlib import Path

import pytest

import seriatim as st
from seriatim.errors import EXTRAS, ConfigError, RunError, extras
from seriatim.runs import places as folders
from tests.terminal import good

ROOT = Path(st.__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
MODULES = {
    "vl-convert-python": "vl_convert",
    "rouge-score": "rouge_score",
    "scikit-learn": "sklearn",
}


def names_in(requirements: list[str]) -> set[str]:
    """The modules that some requirements bring."""
    found = (each.split(">")[0] for each in requirements)
    return {MODULES.get(name, name) for name in found}


@pytest.fixture
def lean(monkeypatch):
    """A process in which no extra is installed."""
    for name in list(sys.modules):
        if name.split(".")[0] in EXTRAS:
            monkeypatch.delitem(sys.modules, name)
    for name in EXTRAS:
        monkeypatch.setitem(sys.modules, name, None)


def test_every_extra_is_what_the_package_says():
    for extra in set(EXTRAS.values()):
        known = {module for module, home in EXTRAS.items() if home == extra}
        assert known == names_in(PROJECT["optional-dependencies"][extra])
    assert not set(EXTRAS) & names_in(PROJECT["dependencies"])


def test_extras_are_imported_inside_functions_only():
    for path in Path(st.__file__).parent.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.split(".")[0] for name in names} & set(EXTRAS), path


def test_a_picture_without_what_draws_it_says_what_to_install(lean):
    record = st.compare("language", "markov:length=2000", "unigram,markov")
    with pytest.raises(ConfigError, match=r"needs altair.*pip install 'seriatim\[pictures\]'"):
        record.plot()


def test_a_comparison_without_pictures_has_its_table(lean, tmp_path):
    said = good(
        "compare",
        "language",
        "markov:length=2000",
        "--models",
        "unigram,markov",
        "--out",
        tmp_path / "all",
    )
    assert "seriatim[pictures]" in said.err and "report.html" not in said.err
    assert sorted(file.name for file in (tmp_path / "all").glob("table.*")) == [
        "table.csv",
        "table.json",
    ]


def test_figures_of_texts_say_what_to_install(lean, tmp_path):
    file = tmp_path / "pairs.tsv"
    file.write_text("source\ttarget\n" + "".join(f"a b {i}\tA B {i}\n" for i in range(30)))
    model = st.fit("translate", "lexicon", file)
    assert model.predict(["a b"])["items"][0]["target"]
    with pytest.raises(ConfigError, match=r"pip install 'seriatim\[texts\]'"):
        model.evaluate(file)
    with pytest.raises(ConfigError, match=r"sacrebleu|jiwer"):
        st.compare("translate", file)
    with pytest.raises(ConfigError, match=r"seriatim\[pictures\]"):
        st.fit("translate", "lexicon", file, out=tmp_path / "run", report=tmp_path / "page.html")
    assert not (tmp_path / "run").exists(), "it is told before anything is done"


def test_other_modules_that_are_missing_are_no_extras():
    with pytest.raises(ModuleNotFoundError), extras:
        import seriatim.nothing  # noqa: F401


def test_a_system_that_cannot_lock_folders_locks_a_file_beside(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "fcntl", None)
    run = tmp_path / "run"
    run.mkdir()
    lock, other = folders.Lock(), folders.Lock()
    lock.take(run)
    with pytest.raises(RunError, match="another process is fitting"):
        other.take(run)
    assert not list(run.iterdir()), "nothing of it stands in the folder"
    lock.release()
    folders.Lock().take(run)
    model = st.fit("language", "unigram", "markov:length=500", out=tmp_path / "other")
    assert st.load(model.folder).spec == "unigram"
