"""What numba keeps is pickle: it lives where nobody else can write."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from seriatim import compiling
from seriatim.compiling import njit, own_folder, trespassers
from seriatim.progress import listening

needs_owners = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs owners of files")


@pytest.fixture(autouse=True)
def fresh(monkeypatch, tmp_path):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)  # numba itself would read it, too
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "kept"))
    own_folder.cache_clear()
    yield
    own_folder.cache_clear()


@needs_owners
def test_the_folder_is_made_for_its_user_alone(tmp_path):
    assert own_folder() == tmp_path / "kept" / "seriatim"
    assert (tmp_path / "kept" / "seriatim").stat().st_mode & 0o777 == 0o700


@needs_owners
@pytest.mark.parametrize("harm", ["open", "above", "link", "file", "nowhere"])
def test_a_folder_that_others_could_write_to_is_not_used(tmp_path, harm, monkeypatch):
    folder = tmp_path / "kept" / "seriatim"
    folder.mkdir(parents=True, mode=0o700)
    if harm == "open":
        folder.chmod(0o770)
    elif harm == "above":
        (tmp_path / "kept").chmod(0o777)
    elif harm == "link":
        folder.rmdir()
        (tmp_path / "other").mkdir()
        folder.symlink_to(tmp_path / "other")
    elif harm == "file":
        folder.rmdir()
        folder.touch()
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", "/proc/none")
    heard = []
    with listening(heard.append):
        assert own_folder() is None
    assert "compiled code is not kept" in heard[0]["words"]


@needs_owners
def test_a_folder_of_another_user_is_not_used(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: (tmp_path / "a").stat().st_uid + 1)
    assert "yours" in trespassers(tmp_path / "a")


def test_a_sticky_folder_above_does_no_harm(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept").chmod(0o1777)
    assert own_folder() is not None


@pytest.mark.parametrize("possible", [True, False])
def test_a_loop_is_kept_there_and_numba_is_left_as_it_was(tmp_path, monkeypatch, possible):
    from numba import config

    if not possible:
        monkeypatch.setattr(compiling, "own_folder", lambda: None)
    before = config.CACHE_DIR
    file = tmp_path / "loops.py"
    file.write_text(
        "from seriatim.compiling import njit\n@njit(cache=True)\ndef twice(x):\n    return 2 * x\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("loops", None)
    from loops import twice  # type: ignore[import-not-found]

    assert twice(4) == 8 and before == config.CACHE_DIR
    assert bool(list((tmp_path / "kept").rglob("*.nbi"))) == possible
    assert not list((tmp_path / "__pycache__").glob("*.nbi"))


def test_nothing_of_ours_is_kept_beside_the_package():
    assert njit.__module__ == "seriatim.compiling"
    for path in Path(compiling.__file__).parent.rglob("*.py"):
        text = path.read_text()
        assert "from numba import njit" not in text or path.name == "compiling.py", path


def test_importing_it_does_not_import_numba():
    program = "import sys, seriatim.compiling; assert 'numba' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
