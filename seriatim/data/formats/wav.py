"""Sounds: WAVE files of plain samples, 8 to 32 bits, as numbers over time between -1 and 1.

    samples      x_t, the mean of both channels if there are two
    at a rate    y_k = 1/r times the integral of x from k r to (k + 1) r,   r = the file's rate / the new one
    in frames    e_b = log(floor + mean over the frequencies of band b of |X_k|^2 / sum of w_n^2)
                 X_k = the sum over n of  w_n x_n exp(-2 pi i k n / N),     w_n = sin^2(pi n / N)

Frames of N samples lie side by side, the last one filled up with silence. The bands are of equal
width in octaves, but that each has one frequency at least. Compressed sounds and floats are refused.
(Microsoft and IBM, "Multimedia Programming Interface and Data Specifications 1.0", 1991.)
Shapes: T samples, F frames of N samples, B bands.
"""

from __future__ import annotations

import numpy as np

from seriatim.data.files import unpacked
from seriatim.data.sequences import NUMBERS, Field, Table, offsets_of
from seriatim.errors import ConfigError, DataError

PLAIN, EXTENSIBLE = 1, 0xFFFE  # kinds of samples: numbers as they are; said at length
KINDS = {2: "ADPCM", 3: "floats", 6: "A-law", 7: "mu-law", 17: "ADPCM", 85: "MP3"}
TYPES = {8: "u1", 16: "<i2", 32: "<i4"}  # 24 bits have none
MOST_SAMPLES = 30_000_000  # of all channels: 11 minutes at 44,100 a second
BANDS = 8
LEAST_FRAME, MOST_FRAME = 32, 65_536
FLOOR = 1e-8  # the energy of silence


def read_wav(path: str, sample_rate: int = 0, frame: int = 0) -> Table:
    """A sound as the field `values`, (T, 1) samples or (F, B) energies, beside their `time`, counted."""
    if frame and not LEAST_FRAME <= frame <= MOST_FRAME:
        raise ConfigError(
            f"a frame has {LEAST_FRAME} to {MOST_FRAME:,} samples", got=frame, do="Try 256"
        )
    sound, rate = samples_of(bytes(unpacked(path)), path)
    if sample_rate:
        sound = at_rate(sound, rate, sample_rate, path)
    values = energies(sound, frame) if frame else sound[:, None]
    bands = tuple(f"band {b + 1}" for b in range(BANDS))
    offsets = offsets_of([len(values)])
    return {
        "values": Field(values, offsets, NUMBERS, bands if frame else ("sound",)),
        "time": Field(np.arange(len(values), dtype=np.float64), offsets, NUMBERS),
    }, None


def samples_of(content: bytes, path: str) -> tuple[np.ndarray, int]:
    """(T,) the samples of a file, of two channels their mean; and how many a second."""
    channels, rate, bits, data = parts_of(content, path)
    width = bits // 8 * channels  # bytes of a sample of all channels
    count = len(data) // width
    if not count or count * channels > MOST_SAMPLES:
        raise DataError(
            "the sound is empty" if not count else "the sound is too long",
            got=f"{count * channels:,} samples",
            file=path,
            do="Leave it out" if not count else f"Cut it: at most {MOST_SAMPLES:,} samples",
        )
    data = data[: count * width]
    if bits == 24:
        three = np.frombuffer(data, np.uint8).reshape(-1, 3)
        four = np.zeros((len(three), 4), np.uint8)
        four[:, 1:] = three
        whole = four.view("<i4")[:, 0]
        most = float(1 << 31)
    else:
        whole = np.frombuffer(data, TYPES[bits])
        most = float(1 << bits - 1)
    sound = whole.reshape(count, channels).mean(1)  # (T,)
    return (sound - most if bits == 8 else sound) / most, rate


def parts_of(content: bytes, path: str) -> tuple[int, int, int, bytes]:
    """Channels, samples a second, bits of a sample, and the bytes of all samples."""
    if content[:4] != b"RIFF" or content[8:12] != b"WAVE":
        raise wrong(path, "this is not a WAVE file", repr(content[:4]))
    place, form = 12, b""
    while place + 8 <= len(content):
        name, size = content[place : place + 4], number(content[place + 4 : place + 8])
        inside = content[place + 8 : place + 8 + size]
        if len(inside) < size:
            got = f"{size:,} bytes of {name!r} expected, {len(inside):,} found"
            raise wrong(path, "the file ends too early", got)
        if name == b"fmt ":
            form = inside
        elif name == b"data":
            return *form_of(form, path), inside
        place += 8 + size + size % 2
    raise wrong(path, "the file has no samples", f"{len(content):,} bytes")


def form_of(form: bytes, path: str) -> tuple[int, int, int]:
    """Channels, samples a second and bits, if they can be read."""
    if len(form) < 16:
        raise wrong(path, "the file does not say how its samples are written", f"{len(form)} bytes")
    kind, channels, rate = number(form[:2]), number(form[2:4]), number(form[4:8])
    bits = number(form[14:16])
    if kind == EXTENSIBLE and len(form) >= 26:
        kind = number(form[24:26])
    if kind != PLAIN or bits not in (8, 16, 24, 32) or channels not in (1, 2) or not rate:
        named = "plain samples" if kind == PLAIN else KINDS.get(kind, f"kind {kind}")
        raise DataError(
            "sounds are read as plain samples (PCM) of 8, 16, 24 or 32 bits, mono or stereo",
            got=f"{named}, {bits} bits, {channels} channels, {rate} a second",
            file=path,
            do="Convert it: ffmpeg -i in.wav -c:a pcm_s16le -ac 1 out.wav",
        )
    return channels, rate, bits


def number(content: bytes) -> int:
    """A whole number, its least byte first."""
    return int.from_bytes(content, "little")


def wrong(path: str, what: str, got: str) -> DataError:
    """The error of a file that is damaged."""
    return DataError(what, got=got, file=path, do="It is damaged, or no WAVE file: write it again")


def at_rate(sound: np.ndarray, rate: int, wanted: int, path: str) -> np.ndarray:
    """(T,) -> (T',) means over the time of each new sample.

    >>> at_rate(np.array([1.0, 3, 5, 7, 9, 11]), 6, 3, "").tolist()
    [2.0, 6.0, 10.0]
    """
    if wanted > rate:
        raise DataError(
            "a sound is not given more samples than it has",
            got=f"{rate} a second, and {wanted} wanted",
            file=path,
            do=f"Choose a --sample-rate of at most {rate}",
        )
    if wanted == rate:
        return sound
    each = rate / wanted
    edges = np.arange(max(1, int(len(sound) / each)) + 1) * each  # (T' + 1,)
    edges = np.minimum(edges, len(sound))
    integral = np.concatenate([np.zeros(1), np.cumsum(sound)])
    found = np.interp(edges, np.arange(len(integral)), integral)
    return np.diff(found) / np.diff(edges)


def energies(sound: np.ndarray, frame: int) -> np.ndarray:
    """(T,) samples -> (F, B) log energies."""
    frames = -(-len(sound) // frame)
    padded = np.concatenate([sound, np.zeros(frames * frame - len(sound))])
    window = np.sin(np.pi * np.arange(frame) / frame) ** 2  # (N,)
    found = np.empty((frames, BANDS))
    edges, many = edges_of(frame), max(1, (1 << 20) // frame)
    for begin in range(0, frames, many):
        some = padded[begin * frame : (begin + many) * frame].reshape(-1, frame)
        power = np.abs(np.fft.rfft(some * window)) ** 2 / (window**2).sum()  # (f, N / 2 + 1)
        sums = np.add.reduceat(power[:, : edges[-1]], edges[:-1], 1)  # (f, B)
        found[begin : begin + many] = sums / np.diff(edges)
    return np.log(FLOOR + found)


def edges_of(frame: int) -> np.ndarray:
    """(B + 1,) the frequencies at which bands begin, and the end, which no band has.

    >>> edges_of(256).tolist()
    [1, 2, 3, 6, 11, 21, 38, 70, 128]
    """
    half = frame // 2
    edges = np.round(half ** (np.arange(BANDS + 1) / BANDS)).astype(int)
    for b in range(1, BANDS + 1):
        edges[b] = max(edges[b], edges[b - 1] + 1)
    return edges
