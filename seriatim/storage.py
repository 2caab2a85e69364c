"""Files that are whole or not there: written under a temporary name, synced, renamed.

Arrays are kept as safetensors and records as JSON, so that nothing read here can execute code. A
crash at any point leaves the previous good file; the points are named so that tests can crash at
each.
"""

from __future__ import annotations

import hashlib
import json
import math
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

PIECE = 1 << 25  # bytes written, and checked, in one go: part of what checksums are


BLOCK = 1 << 20  # bytes read in one go


POINTS = ("nothing written", "half written", "written", "synced", "renamed")


KINDS = {  # of torch, as safetensors calls them
    "float64": "F64",
    "int64": "I64",
    "float32": "F32",
    "int32": "I32",
    "bfloat16": "BF16",
    "float16": "F16",
    "uint8": "U8",
    "bool": "BOOL",
}


# tests replace this to stop the process at a point
reached: Callable[[str], None] = lambda point: None


def write_bytes(path: Path, content: bytes) -> None:
    """Replace a file in one step."""
    write_pieces(path, [content[: len(content) // 2], content[len(content) // 2 :]])


def write_pieces(path: Path, pieces: Iterable[Any]) -> str:
    """The same for a file in two or more pieces, so that memory is not taken for the whole; its
    checksum, found meanwhile."""
    digest = Digest()
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
    # the widest first: all begin at a multiple of their size
    names = sorted(arrays, key=lambda name: (-arrays[name].element_size(), name))
    metadata = {"format": "pt"} | ({} if record is None else {"record": json.dumps(record)})
    header: dict[str, dict[str, Any]] = {"__metadata__": metadata}
    place = 0
    for name in names:
        array, size = arrays[name], arrays[name].numel() * arrays[name].element_size()
        header[name] = {
            "dtype": KINDS[str(array.dtype).removeprefix("torch.")],
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
        content = tensor.detach().cpu().contiguous().reshape(-1).view(uint8).numpy()
        for begin in range(0, len(content), PIECE):
            yield memoryview(content[begin : begin + PIECE])
            if tensor.is_cpu:
                Space.leave(Space.mapped.get(tensor.data_ptr()))


def read_arrays(path: Path, mapped: bool = False) -> tuple[dict[str, Any], Any]:
    """What `write_arrays` wrote. The header is checked against the file's size before anything is
    allocated. The arrays are in memory: who changes or shortens the file later does not change
    them. Only those of a huge file, or where it is asked for, stay where they are, `mapped`, and are
    read as they are needed."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            record = (file.metadata() or {}).get("record")
            names = list(file.keys())
            if mapped or os.path.getsize(path) > huge():
                arrays = {name: file.get_tensor(name) for name in names}
            else:
                arrays = in_memory(path, names)
            return arrays, None if record is None else json.loads(record)
    except (SafetensorError, ValueError, KeyError, OSError, RecursionError) as error:
        raise RunError(f"{path} cannot be read", got=error, do="Restore it or fit again") from None


def in_memory(path: Path, names: list[str]) -> dict[str, Any]:
    """The arrays of a file whose header is sound, read and not mapped: a file that is shortened
    meanwhile is an error and no SIGBUS."""
    import torch
    from safetensors import safe_open

    kinds = {kind: getattr(torch, name) for name, kind in KINDS.items()}
    found = {}
    with open(path, "rb", buffering=0) as file:
        first = 8 + int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(first - 8))
        for name in names:
            (begin, end), kind = header[name]["data_offsets"], header[name]["dtype"]
            if kind not in kinds:
                with safe_open(path, "pt") as other:
                    found[name] = other.get_tensor(name).clone()
                continue
            size = math.prod(header[name]["shape"]) * kinds[kind].itemsize
            if size != end - begin or first + end > os.fstat(file.fileno()).st_size:
                raise ValueError(f"it was changed while it was read, at {name}")
            found[name] = torch.empty(header[name]["shape"], dtype=kinds[kind])
            file.seek(first + begin)
            fill(file, memoryview(found[name].view(-1).view(torch.uint8).numpy()), name)
    return found


def fill(file: Any, place: memoryview, name: str) -> None:
    """Read so much of a file as there is place for."""
    while len(place):
        count = file.readinto(place)
        if not count:
            raise ValueError(f"it ends within {name}")
        place = place[count:]


def huge() -> int:
    """Bytes above which arrays are not read into memory: a quarter of what there is."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4
    except (AttributeError, ValueError, OSError):
        return 1 << 32


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


class Digest:
    """The checksum of a file: its sha256 or, where it is longer than a PIECE, the sha256 of those of
    its pieces, one after another, which several threads find side by side."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.now, self.room = hashlib.sha256(), PIECE

    def update(self, content: Any) -> None:
        """So much more of the file."""
        rest = memoryview(content)
        while len(rest):
            part, rest = rest[: self.room], rest[self.room :]
            if not self.room:
                self.pieces.append(self.now.digest())
                self.now, self.room = hashlib.sha256(), PIECE
                continue
            self.now.update(part)
            self.room -= len(part)

    def hexdigest(self) -> str:
        """What it is."""
        return joined([*self.pieces, self.now.digest()])


def joined(pieces: list[bytes]) -> str:
    """The checksum of a file by those of its pieces."""
    whole = pieces[0] if len(pieces) == 1 else hashlib.sha256(b"".join(pieces)).digest()
    return whole.hex()


def checksum(path: Path) -> str:
    """The checksum of one file."""
    return checksums([path])[path]


def checksums(paths: Iterable[Path]) -> dict[Path, str]:
    """The checksums of files, found by several threads."""
    paths, many = list(paths), min(8, os.cpu_count() or 1)
    try:
        begins = {path: range(0, max(1, os.path.getsize(path)), PIECE) for path in paths}
        with ThreadPoolExecutor(many) as pool:
            work = {
                path: [pool.submit(digest_of, path, begin) for begin in begins[path]]
                for path in paths
            }
            return {
                path: joined([each.result() for each in several]) for path, several in work.items()
            }
    except (OSError, ValueError) as error:
        raise RunError(
            f"cannot read {getattr(error, 'filename', None) or paths[0]}",
            got=getattr(error, "strerror", None) or error,
            do="Check the run folder",
        ) from None


def digest_of(path: Path, begin: int) -> bytes:
    """The sha256 of the piece of a file that begins there."""
    digest, left = hashlib.sha256(), PIECE
    with open(path, "rb", buffering=0) as file:
        file.seek(begin)
        while left and (content := file.read(min(left, BLOCK))):
            digest.update(content)
            left -= len(content)
    return digest.digest()
