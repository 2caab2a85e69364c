"""Files that are whole or not there: written under a temporary name, synced, renamed.

Arrays are kept as safetensors and records as JSON, so that nothing read here can execute code. A
crash at any point leaves the previous good file; the points are named so that tests can crash at
each.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO
from weakref import WeakValueDictionary

import numpy as np

from seriatim.errors import RunError

PIECE = 1 << 25  # bytes written in one go


POINTS = ("nothing written", "half written", "written", "synced", "renamed")


# tests replace this to stop the process at a point
reached: Callable[[str], None] = lambda point: None


def write_bytes(path: Path, content: bytes) -> None:
    """Replace a file in one step."""
    write_pieces(path, [content[: len(content) // 2], content[len(content) // 2 :]])


def write_pieces(path: Path, pieces: Iterable[Any]) -> str:
    """The same for a file in two or more pieces, so that memory is not taken for the whole; its
    checksum, found meanwhile."""
    digest = hashlib.sha256()
    with replacing(path) as file, ThreadPoolExecutor(1) as beside:
        for number, piece in enumerate(pieces):
            found = beside.submit(digest.update, piece)
            file.write(piece)
            found.result()
            if number == 0:
                file.flush()
                reached("half written")
    return digest.hexdigest()


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to be written bit by bit, which takes its name when all of it is on disk; whatever
    stops that leaves the earlier one."""
    # the file behind a link is replaced, not the link
    path = path.resolve() if os.path.islink(path) else path
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        yield from straight(path)
        return
    temporary = path.with_name(path.name + ".partial")
    try:
        with open(temporary, "wb") as file:
            reached("nothing written")
            yield file
            reached("written")
            file.flush()
            os.fsync(file.fileno())
            reached("synced")
        os.replace(temporary, path)
        reached("renamed")
        sync_folder(path.parent)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if not isinstance(error, OSError):
            raise
        raise RunError(
            f"cannot write {path}",
            got=error.strerror or error,
            do="Make the folder first"
            if isinstance(error, FileNotFoundError)
            else "Free some space or choose another folder; the earlier file is untouched",
        ) from None


def straight(path: Path) -> Iterator[BinaryIO]:
    """A device or a pipe is written to and never replaced."""
    try:
        with open(path, "wb") as file:
            yield file
    except OSError as error:
        raise RunError(
            f"cannot write {path}", got=error.strerror or error, do="Choose a file"
        ) from None


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power cut, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_json(path: Path, record: Any) -> None:
    """Replace a file by a record as JSON, in one step."""
    write_bytes(
        path, (json.dumps(record, indent=1, ensure_ascii=True, allow_nan=False) + "\n").encode()
    )


def read_bytes(path: Path) -> bytes:
    """All of a file; a RunError if it cannot be read."""
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise RunError(
            f"cannot read {path}",
            got=getattr(error, "strerror", None) or error,
            do="Check the run folder",
        ) from None


def read_json(path: Path) -> Any:
    """What `write_json` wrote; a RunError if it is damaged."""
    try:
        return json.loads(read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise RunError(f"{path} is damaged", got=error, do="Restore it or fit again") from None


def write_arrays(path: Path, arrays: dict[str, Any], record: Any = None) -> str:
    """Tensors by name, and a JSON record beside them in the same file: safetensors, an array at a
    time, so that they may be larger than the memory. The file's checksum."""
    kinds = {
        "float64": "F64",
        "int64": "I64",
        "float32": "F32",
        "int32": "I32",
        "bfloat16": "BF16",
        "float16": "F16",
        "uint8": "U8",
        "bool": "BOOL",
    }
    # the widest first: all begin at a multiple of their size
    names = sorted(arrays, key=lambda name: (-arrays[name].element_size(), name))
    metadata = {"format": "pt"} | ({} if record is None else {"record": json.dumps(record)})
    header: dict[str, dict[str, Any]] = {"__metadata__": metadata}
    place = 0
    for name in names:
        array, size = arrays[name], arrays[name].numel() * arrays[name].element_size()
        header[name] = {
            "dtype": kinds[str(array.dtype).removeprefix("torch.")],
            "shape": list(array.shape),
            "data_offsets": [place, place + size],
        }
        place += size
    words = json.dumps(header).encode()
    words += b" " * (-len(words) % 8)
    return write_pieces(
        path,
        chain([len(words).to_bytes(8, "little"), words], *(raw(arrays[name]) for name in names)),
    )


def raw(tensor: Any) -> Iterator[Any]:
    """The bytes of a tensor in pieces; what lies on disk does not stay in memory."""
    from torch import uint8

    if tensor.numel():
        content = tensor.detach().contiguous().reshape(-1).view(uint8).numpy()
        for begin in range(0, len(content), PIECE):
            yield memoryview(content[begin : begin + PIECE])
            Space.leave(Space.mapped.get(tensor.data_ptr()))


def read_arrays(path: Path) -> tuple[dict[str, Any], Any]:
    """What `write_arrays` wrote. The header is checked against the file's size before anything is
    allocated."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            record = (file.metadata() or {}).get("record")
            return {
                name: file.get_tensor(name)
                for name in file.keys()  # noqa: SIM118  (no mapping)
            }, None if record is None else json.loads(record)
    except (SafetensorError, ValueError, OSError, RecursionError) as error:
        raise RunError(f"{path} cannot be read", got=error, do="Restore it or fit again") from None


def on_disk(path: Path, array: np.ndarray) -> np.ndarray:
    """The same array as a file, .npy, that is mapped read-only into memory; a file that holds it
    already is left as it is."""
    try:
        same = np.array_equal(np.load(path, mmap_mode="r"), array)
    except (OSError, ValueError, EOFError):
        same = False
    if not same:
        with replacing(path) as file:
            np.save(file, array)
    return np.load(path, mmap_mode="r").view(np.ndarray)


class Space:
    """Room for long arrays: in memory or, when they would not fit, in nameless files that are
    mapped into it."""

    # arrays on disk, by their address
    mapped: WeakValueDictionary[int, np.memmap] = WeakValueDictionary()

    def __init__(self, on_disk: bool = False):
        self.on_disk = on_disk

    def empty(self, length: int, kind: type) -> np.ndarray:
        """An array to be filled. Its place on disk is taken at once: a full disk is an error here,
        not a crash later."""
        size = length * np.dtype(kind).itemsize
        if not self.on_disk or size < 1 << 16:
            return np.empty(length, kind)
        try:
            with tempfile.TemporaryFile(prefix="seriatim-") as file:
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, size)
                else:
                    file.truncate(size)
                made = np.memmap(file, kind, "r+", shape=(length,))
                Space.mapped[made.ctypes.data] = made
                return made
        except OSError as error:
            raise RunError(
                f"there is no room for {size:,} bytes in {tempfile.gettempdir()}",
                got=error.strerror or error,
                do="Free some space, or set TMPDIR to a folder that has it",
            ) from None

    @staticmethod
    def leave(*arrays: np.ndarray | None) -> None:
        """These are not needed for a while: if they lie on disk, they leave the memory."""
        for array in arrays:
            mapped = getattr(array, "_mmap", None)
            if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
                mapped.madvise(mmap.MADV_DONTNEED)


def checksum(path: Path) -> str:
    """The sha256 of a file."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError) as error:
        raise RunError(
            f"cannot read {path}",
            got=getattr(error, "strerror", None) or error,
            do="Check the run folder",
        ) from None
