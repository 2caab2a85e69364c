"""Files are whole or not there: whatever stops a write, the earlier content is readable; whatever is on disk, reading is safe."""

import errno
import json
import os
import random
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from seriatim import storage
from seriatim.errors import RunError
from seriatim.storage import (
    POINTS,
    checksum,
    on_disk,
    read_arrays,
    read_bytes,
    read_json,
    write_arrays,
    write_bytes,
    write_json,
)

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # machines are busy
OLD, NEW = b"old content", b"the new content, which is longer"


class Crash(BaseException):
    """The process stops here."""


@pytest.fixture
def path(tmp_path):
    write_bytes(tmp_path / "file.json", OLD)
    return tmp_path / "file.json"


def names(path) -> list[str]:
    return sorted(each.name for each in path.parent.iterdir())


# Crashes


@pytest.mark.parametrize("point", POINTS)
def test_a_crash_leaves_the_old_content_or_the_new_never_a_mixture(path, monkeypatch, point):
    def reached(here):
        if here == point:
            raise Crash

    monkeypatch.setattr(storage, "reached", reached)
    with pytest.raises(Crash):
        write_bytes(path, NEW)
    assert path.read_bytes() == (NEW if point == "renamed" else OLD)
    monkeypatch.undo()
    write_bytes(path, NEW)  # what the crash left behind is not in the way
    assert path.read_bytes() == NEW and names(path) == ["file.json"]


def test_the_points_are_reached_in_their_order(path, monkeypatch):
    seen = []
    monkeypatch.setattr(storage, "reached", seen.append)
    write_bytes(path, NEW)
    assert tuple(seen) == POINTS


def test_content_is_on_disk_before_it_gets_its_name(path, monkeypatch):
    seen = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (seen.append("sync"), fsync(handle))[1])
    monkeypatch.setattr(os, "replace", lambda *names: (seen.append("rename"), replace(*names))[1])
    write_bytes(path, NEW)
    assert seen == ["sync", "rename", "sync"]  # the content, the name, the folder


@pytest.mark.parametrize("point", POINTS[:-1])
def test_a_crash_leaves_no_file_where_there_was_none(tmp_path, monkeypatch, point):
    def reached(here):
        if here == point:
            raise Crash

    monkeypatch.setattr(storage, "reached", reached)
    with pytest.raises(Crash):
        write_bytes(tmp_path / "new.json", NEW)
    assert not (tmp_path / "new.json").exists()


# A disk that is full, a folder that is not there


def full(*arguments, **settings):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("where, what", [(os, "fsync"), (os, "replace"), (storage, "open")])
def test_a_full_disk_is_our_error_and_leaves_the_old_content_alone(path, monkeypatch, where, what):
    monkeypatch.setattr(where, what, full, raising=False)
    with pytest.raises(RunError) as error:
        write_bytes(path, NEW)
    assert "No space left on device" in str(error.value) and "file.json" in str(error.value)
    monkeypatch.undo()
    assert path.read_bytes() == OLD and names(path) == ["file.json"]


@pytest.mark.parametrize("point", POINTS[:-1])
def test_a_disk_that_fills_up_midway_leaves_nothing_behind(path, monkeypatch, point):
    monkeypatch.setattr(storage, "reached", lambda here: full() if here == point else None)
    with pytest.raises(RunError):
        write_bytes(path, NEW)
    assert path.read_bytes() == OLD and names(path) == ["file.json"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_device_that_is_really_full_is_our_error(tmp_path, monkeypatch):
    real = open
    monkeypatch.setattr(
        storage, "open", lambda name, mode: real("/dev/full", mode, buffering=0), raising=False
    )
    with pytest.raises(RunError, match="No space left"):
        write_bytes(tmp_path / "file", NEW)


@pytest.mark.parametrize("place", ["missing/file", "file.json/inside", "x" * 300, "folder"])
def test_a_place_that_cannot_be_written_is_our_error(path, place):
    (path.parent / "folder").mkdir()
    with pytest.raises(RunError, match="cannot write"):
        write_bytes(path.parent / place, NEW)
    assert path.read_bytes() == OLD and names(path) == ["file.json", "folder"]


@pytest.mark.parametrize("read", [read_bytes, read_json, read_arrays, checksum])
@pytest.mark.parametrize("place", ["missing", "file.json/inside", "x" * 300, ""])
def test_a_place_that_cannot_be_read_is_our_error(path, read, place):
    with pytest.raises(RunError):
        read(path.parent / place)


# JSON


PLAIN = some.recursive(
    some.one_of(
        some.none(),
        some.booleans(),
        some.integers(-(2**53), 2**53),
        some.floats(allow_nan=False, allow_infinity=False),
        some.text(),
    ),
    lambda inner: some.one_of(
        some.lists(inner, max_size=3), some.dictionaries(some.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(patient, suppress_health_check=list(HealthCheck), max_examples=50)
@given(PLAIN)
def test_records_come_back(tmp_path, record):
    write_json(tmp_path / "record.json", record)
    assert read_json(tmp_path / "record.json") == record
    assert (tmp_path / "record.json").read_bytes().isascii()


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe\x00", b"[" * 100_000, b'{"a": 1', b"nul", "{}".encode("utf-16")[:3]],
)
def test_what_is_not_json_is_our_error(path, content):
    path.write_bytes(content)
    with pytest.raises(RunError, match="damaged"):
        read_json(path)


def test_the_checksum_is_that_of_the_content(path):
    assert (
        checksum(path) == "34a780ad578b997db55b260beb60b501f3e04d30ba1a51fcf43cd8dd1241780d"
    )  # sha256sum of OLD


# Arrays


ARRAYS = {
    "a": torch.arange(6).reshape(2, 3),
    "b.c": torch.tensor([1.5, float("inf"), -0.0]),
    "empty": torch.zeros(0, 4),
    "mask": torch.tensor([True, False]),
    "double": torch.tensor(3.25, dtype=torch.float64),
    "bytes": torch.tensor([0, 255], dtype=torch.uint8),
}


def test_arrays_come_back_with_their_types_shapes_and_record(path):
    write_arrays(path, ARRAYS, {"step": 3, "best": None, "name": "ü"})
    arrays, record = read_arrays(path)
    assert record == {"step": 3, "best": None, "name": "ü"} and arrays.keys() == ARRAYS.keys()
    assert all(
        torch.equal(arrays[name], ARRAYS[name]) and arrays[name].dtype == ARRAYS[name].dtype
        for name in ARRAYS
    )


def test_arrays_need_no_record_and_no_arrays(path):
    write_arrays(path, {})
    assert read_arrays(path) == ({}, None)
    write_arrays(path, {"t": torch.arange(6).reshape(2, 3).T})  # not contiguous
    assert torch.equal(read_arrays(path)[0]["t"], torch.tensor([[0, 3], [1, 4], [2, 5]]))


@settings(patient, suppress_health_check=list(HealthCheck), max_examples=40)
@given(some.lists(some.floats(width=32, allow_nan=False), max_size=20), some.text(max_size=10))
def test_any_numbers_and_any_words_come_back(tmp_path, values, words):
    write_arrays(tmp_path / "x.safetensors", {"x": torch.tensor(values)}, {"words": words})
    arrays, record = read_arrays(tmp_path / "x.safetensors")
    assert arrays["x"].tolist() == values and record == {"words": words}


def check_read_or_refused(path, content: bytes) -> bool:
    """Reading gives arrays or our error, nothing else. True if it was refused."""
    path.unlink(missing_ok=True)  # a new file: the old one may still be mapped
    path.write_bytes(content)
    try:
        arrays, _ = read_arrays(path)
    except RunError as error:
        assert path.name in str(error)
        return True
    assert all(isinstance(array, torch.Tensor) for array in arrays.values())
    return False


@pytest.fixture
def sound(path) -> bytes:
    write_arrays(path, ARRAYS, {"step": 3, "loss": 1.5})
    return path.read_bytes()


def test_arrays_cut_short_anywhere_are_refused(path, sound):
    assert all(check_read_or_refused(path, sound[:size]) for size in range(0, len(sound), 3))
    assert not check_read_or_refused(path, sound)


@pytest.mark.parametrize("seed", range(4))
def test_arrays_with_random_bytes_changed_are_refused_or_read(path, sound, seed):
    dice = random.Random(seed)
    header = 8 + int.from_bytes(sound[:8], "little")
    fates = []
    for _ in range(150):
        content = bytearray(sound)
        for _ in range(dice.choice((1, 1, 2, 8))):
            place = dice.randrange(header if dice.random() < 0.8 else len(content))
            content[place] = dice.choice(
                (dice.randrange(256), ord(dice.choice('0123456789{}[]",:')))
            )
        fates.append(check_read_or_refused(path, bytes(content)))
    assert 10 < sum(fates) < 150


DTYPES = [
    "F64",
    "F32",
    "F16",
    "BF16",
    "F8_E4M3",
    "F8_E5M2",
    "F8_E8M0",
    "F4",
    "F6_E2M3",
    "F6_E3M2",
    "I64",
    "I32",
    "I16",
    "I8",
    "U64",
    "U32",
    "U16",
    "U8",
    "BOOL",
    "C64",
    "NONE",
    "",
    None,
    3,
]
SIZES = [
    None,
    -1,
    0,
    1,
    2**31,
    2**63,
    2**64,
    10**30,
    1.5,
    "3",
    [],
    [-1],
    [2**62, 4],
    [0, 2**62],
    [8],
    [1] * 100,
]


def test_arrays_with_an_absurd_header_are_refused_or_read(path):
    def file_of(header, body=bytes(64)) -> bytes:
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        return len(text).to_bytes(8, "little") + text + body

    entry = {"dtype": "F32", "shape": [4, 4], "data_offsets": [0, 64]}
    headers = [{"x": entry | {"dtype": dtype}} for dtype in DTYPES] + [
        {"x": entry | {"dtype": dtype, "shape": [128]}} for dtype in ("F4", "U8", "I16")
    ]
    headers += [{"x": entry | {"shape": shape}} for shape in SIZES] + [
        {"x": entry | {"data_offsets": [0, end]}} for end in SIZES
    ]
    headers += [
        {"x": {name: value for name, value in entry.items() if name != key}} for key in entry
    ] + [{"x": None}, {"x": []}, [], None, 3, "x", {}]
    headers += [{"x": entry, "__metadata__": metadata} for metadata in (None, [], 3, {"record": 3})]
    headers += [
        {"x": entry, "__metadata__": {"record": record}}
        for record in ("{", "[" * 50_000, "nul", "")
    ]
    headers += [b"", b"{", b"\xff" * 40, b"[" * 50_000, b'{"x": 1, "x": 2}', b" " * 100]
    fates = [check_read_or_refused(path, file_of(header)) for header in headers]
    assert sum(fates) > len(fates) / 2 and not check_read_or_refused(path, file_of({"x": entry}))
    for size in (2**63, 2**64 - 1, 10**9, 0):
        assert check_read_or_refused(path, size.to_bytes(8, "little") + b"{}" + bytes(64))


@pytest.mark.parametrize("before", [None, b"", b"no array", "other", "same", "cut"])
def test_an_array_on_disk_is_read_only_and_what_it_was(before, tmp_path):
    path, array = tmp_path / "ids.npy", np.arange(1000, dtype=np.int32)
    if before in ("other", "same", "cut"):
        np.save(path, array[::-1] if before == "other" else array)
        content = path.read_bytes()
        path.write_bytes(content[:-5] if before == "cut" else content)
    elif before is not None:
        path.write_bytes(before)
    node = path.stat().st_ino if before == "same" else None
    found = on_disk(path, array)
    assert (
        np.array_equal(found, array)
        and found.dtype == np.int32
        and not found.flags.writeable
        and not found.flags.owndata
    )
    assert node in (None, path.stat().st_ino) and [each.name for each in tmp_path.iterdir()] == [
        "ids.npy"
    ]


def test_a_link_keeps_leading_to_its_file_and_a_device_stays_a_device(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_bytes(tmp_path / "link", b"new content")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_bytes() == b"new content"
    if Path("/dev/full").exists():
        with pytest.raises(RunError, match="cannot write"):
            write_bytes(Path("/dev/full"), b"x" * 100_000)
        assert Path("/dev/full").is_char_device()
