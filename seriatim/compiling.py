"""Loops that numba compiles when they are first used, and where it keeps what it compiled.

numba's cache is pickle: who can write there executes code in our name. So it lives in a folder that
nobody else can write to, `seriatim` in NUMBA_CACHE_DIR, in XDG_CACHE_HOME or in ~/.cache: it is made
with mode 0700, and neither it nor any folder above it may belong to, or be written by, another user.
Where there is no such folder nothing is kept: everything is compiled again in each process.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from seriatim.progress import note

Function = TypeVar("Function", bound=Callable[..., Any])
SETTING = Lock()  # held while numba's setting is not what it was


def njit(*, cache: bool = False, **options: Any) -> Callable[[Function], Function]:
    """numba's njit, whose cache is ours."""

    def compiled(function: Function) -> Function:
        """The function as numba has it."""
        from numba import njit

        with kept() as possible:
            return njit(cache=cache and possible, **options)(function)

    return compiled


@contextmanager
def kept() -> Iterator[bool]:
    """Within this, what is declared is kept in our folder; whether there is one."""
    config: Any = import_module("numba").config
    folder = own_folder()
    with SETTING:
        before, config.CACHE_DIR = config.CACHE_DIR, str(folder or "")
        try:
            yield folder is not None
        finally:
            config.CACHE_DIR = before


@cache
def own_folder() -> Path | None:
    """The folder for what was compiled, made if it is not there; None if others could write to it."""
    home = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        folder = Path(os.path.expanduser(home)).absolute() / "seriatim"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        wrong = trespassers(folder)
    except (OSError, RuntimeError, ValueError) as error:
        folder, wrong = Path(home), str(getattr(error, "strerror", None) or error)
    if wrong:
        note(f"compiled code is not kept in {folder}: {wrong}")
        return None
    return folder


def trespassers(folder: Path) -> str:
    """Who else could write to a folder, in words; nobody: nothing."""
    if not hasattr(os, "geteuid"):  # a profile of Windows is its user's
        return ""
    own, root = os.geteuid(), 0
    entry = os.lstat(folder)
    if not stat.S_ISDIR(entry.st_mode) or entry.st_uid != own or entry.st_mode & 0o077:
        return "it must be a folder of yours with mode 0700"
    for above in Path(os.path.realpath(folder)).parents:
        entry = os.stat(above)
        open_to_all = entry.st_mode & 0o022 and not entry.st_mode & stat.S_ISVTX
        if entry.st_uid not in (own, root) or open_to_all:
            return f"others can write to {above}"
    return ""
