"""Melodies, one note at a time, as symbols: plain text, and Standard MIDI files in and out.

    C4:1/4    F#5:3/8    R:1/8        pitch with octave, or R for a rest; duration in whole notes

C4 is the note 60 of MIDI; flats are written as sharps, and fractions are reduced. Of a file of
several voices the first that has notes is read; where notes overlap the new one ends the old one,
and of a chord the last one stays, which is said. As a roll, all notes of all voices are kept:

    60+64+67 60+64+67 . 62            the notes that sound in each step of 1/16, a dot for none;
                                      or those that are struck in it

All times are rounded to a grid. Tempo and loudness are not kept. (MIDI Manufacturers Association,
"Standard MIDI Files 1.0", 1988.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

from seriatim.data.files import unpacked
from seriatim.data.sequences import Field, Table
from seriatim.errors import ConfigError, DataError
from seriatim.storage import write_bytes

NAMES = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")


TOKEN = re.compile(r"(?:[Rr]|([A-Ga-g])([#b]{0,2})(-?[0-9])):([0-9]{1,9})(?:/([0-9]{1,9}))?")


HIGHEST = 127  # notes of MIDI, from 0


QUARTER = 480  # ticks of a quarter note in a file that is written


LOUDNESS = 80


MOST_GRID = 4 * QUARTER
STEPS = 16  # of a roll, in a whole note
MOST_STEPS = 1_000_000  # of a roll: 69 hours at 60 quarter notes a minute


OFF, ON, PROGRAM, PITCH_BEND, SYSTEM, ESCAPE, META = (
    0x80,
    0x90,
    0xC0,
    0xE0,
    0xF0,
    0xF7,
    0xFF,
)  # kinds of messages


TEMPO, END = 0x51, 0x2F  # kinds of meta messages


Note = tuple[int | None, Fraction]  # its number, None for a rest; its duration


Change = tuple[int, int, int, bool]  # when, in which channel, which note, on or off


# Text


def parse_melody(text: str) -> list[str]:
    """The tokens of a melody, in their usual form.

    >>> parse_melody("c4:2/8 Db4:1/4 R:1/2 E#4:1")
    ['C4:1/4', 'C#4:1/4', 'R:1/2', 'F4:1/1']
    """
    return [
        written(*note_in(token, line))
        for line, words in enumerate(text.split("\n"), 1)
        for token in words.split()
    ]


def written(note: int | None, duration: Fraction) -> str:
    """A note as a token."""
    pitch = "R" if note is None else f"{NAMES[note % 12]}{note // 12 - 1}"
    return f"{pitch}:{duration.numerator}/{duration.denominator}"


def note_in(token: str, line: int | None = None) -> Note:
    """The note a token stands for."""
    match = TOKEN.fullmatch(token)
    if match is None or not int(match[4]) or not int(match[5] or 1):
        raise DataError(
            "this is no note",
            got=token,
            line=line,
            do="Write pitch and octave, or R, and a duration: C4:1/4 F#5:3/8 R:1/8",
        )
    letter, signs, octave = match.groups()[:3]
    duration = Fraction(int(match[4]), int(match[5] or 1))
    if letter is None:
        return None, duration
    note = (
        12 * (int(octave) + 1) + NAMES.index(letter.upper()) + signs.count("#") - signs.count("b")
    )
    if not 0 <= note <= HIGHEST:
        raise DataError(
            "this note is too high or too low",
            got=token,
            line=line,
            do="Notes go from C-1 to G9; C4 is in the middle",
        )
    return note, duration


# Reading MIDI


def read_melody(path: str, notes: list[str] | None = None) -> Table:
    """A MIDI file as a field of tokens; `notes` takes how many notes of other voices, or of
    chords, are not among them."""
    tokens = read_midi(path)
    kept = sum(not token.startswith("R") for token in tokens)
    played = sum(on for changes, _ in voices(path)[1] for _, _, _, on in changes)
    if played > kept and notes is not None:
        notes.append(
            f"{path}: {played - kept:,} of {played:,} notes are left out: of several that sound "
            "together a melody has one; --input-format roll keeps all, as sets of notes"
        )
    return {"tokens": Field.of_symbols([tokens])}, None


def read_roll(path: str, grid: int = STEPS, struck: bool = False) -> Table:
    """A MIDI file as a field of steps, each the set of notes that sound, or are struck."""
    return {"tokens": Field.of_symbols([roll_of(path, grid, struck)])}, None


def voices(path: str) -> tuple[int, list[tuple[list[Change], int]]]:
    """Ticks of a quarter note; and of each track its notes on and off, and when it ends."""
    quarter, tracks = tracks_in(Reader(bytes(unpacked(path)), path))
    return quarter, [changes_in(track) for track in tracks]


def read_midi(path: str, grid: int = 32) -> list[str]:
    """The first voice of a MIDI file that has notes, in steps of 1/grid of a whole note."""
    if grid < 1:
        raise ConfigError("the grid has at least one step in a whole note", got=grid, do="Try 32")
    quarter, tracks = voices(path)
    for changes, end in tracks:
        voice = next((channel for _, channel, _, on in changes if on), None)
        if voice is not None:
            return tokens_of(
                [change for change in changes if change[1] == voice],
                end,
                Fraction(grid, 4 * quarter),
                grid,
            )
    raise DataError("the file has no notes", file=path)


def roll_of(path: str, grid: int = STEPS, struck: bool = False) -> list[str]:
    """The notes of all voices that sound, or are struck, in each step of 1/grid of a whole note:
    60+64+67."""
    if not 1 <= grid <= MOST_GRID:
        raise ConfigError(f"a whole note has 1 to {MOST_GRID:,} steps", got=grid, do=f"Try {STEPS}")
    quarter, tracks = voices(path)
    scale = Fraction(grid, 4 * quarter)
    spans = [
        (step_of(start, scale), step_of(stop, scale), note)
        for changes, end in tracks
        for start, note, stop in held(changes, end)
    ]
    if not spans:
        raise DataError("the file has no notes", file=path)
    last = max(max(first + 1, stop) for first, stop, _ in spans)
    if last > MOST_STEPS or sum(stop - first for first, stop, _ in spans) > 10 * MOST_STEPS:
        raise DataError(
            "the file is too long to be read step by step", got=f"{last:,} steps", file=path
        )
    steps: list[set[int]] = [set() for _ in range(last)]
    for first, stop, note in spans:
        for step in range(first, first + 1 if struck else max(first + 1, stop)):
            steps[step].add(note)
    return ["+".join(map(str, sorted(notes))) or "." for notes in steps]


def held(changes: list[Change], end: int) -> Iterator[tuple[int, int, int]]:
    """When each note begins, which it is, and when it ends, whatever else sounds."""
    begun: dict[tuple[int, int], int] = {}
    for time, channel, note, on in changes:
        if (channel, note) in begun:
            yield begun.pop((channel, note)), note, time
        if on:
            begun[channel, note] = time
    for (_, note), start in begun.items():
        yield start, note, end


class Reader:
    """Bytes one after another: there are as many as asked for, or a DataError."""

    def __init__(self, content: bytes, path: str):
        self.content, self.path, self.place = content, path, 0

    def wrong(self, what: str, got: object = None) -> DataError:
        """The error of a file that is damaged."""
        return DataError(
            what,
            got=got,
            file=self.path,
            do="It is damaged, or no Standard MIDI file: write it again",
        )

    def left(self) -> int:
        """How many bytes are still to come."""
        return len(self.content) - self.place

    def take(self, count: int) -> bytes:
        """The next bytes."""
        if count > self.left():
            raise self.wrong(
                "the file ends too early", f"{count:,} more bytes expected, {self.left():,} found"
            )
        self.place += count
        return self.content[self.place - count : self.place]

    def whole(self, count: int) -> int:
        """A number in so many bytes."""
        return int.from_bytes(self.take(count), "big")

    def variable(self) -> int:
        """A number in one to four bytes of seven bits; all but the last are marked."""
        number = 0
        for _ in range(4):
            byte = self.whole(1)
            number = number << 7 | byte & 0x7F
            if byte < 0x80:
                return number
        raise self.wrong("a number of the file does not end", f"byte {self.place}")


def tracks_in(file: Reader) -> tuple[int, list[Reader]]:
    """Ticks of a quarter note, and the tracks."""
    if file.content[:4] != b"MThd":
        raise file.wrong("this is not a MIDI file", repr(file.content[:4]))
    header = Reader(chunk(file)[1], file.path)
    kind, count, quarter = (header.whole(2) for _ in range(3))
    if kind > 1:
        raise DataError(
            "only MIDI files of format 0 and 1 are read", got=f"format {kind}", file=file.path
        )
    if not 0 < quarter < 0x8000:
        raise DataError(
            "time must be counted in parts of a quarter note",
            got=f"division {quarter}",
            file=file.path,
        )
    tracks: list[Reader] = []
    while len(tracks) < count:
        name, content = chunk(file)
        tracks += (
            [Reader(content, file.path)] if name == b"MTrk" else []
        )  # others may be there and mean nothing to us
    return quarter, tracks


def chunk(file: Reader) -> tuple[bytes, bytes]:
    """Name and content of the next part of a file."""
    return file.take(4), file.take(file.whole(4))


def changes_in(track: Reader) -> tuple[list[Change], int]:
    """The notes that are switched on and off, and when the track ends; in ticks."""
    changes, time, status = [], 0, 0
    while track.left():
        time += track.variable()
        first = track.whole(1)
        if first in (SYSTEM, ESCAPE):
            track.take(track.variable())
        elif first == META:
            kind, _ = track.whole(1), track.take(track.variable())
            if kind == END:
                break
        else:
            status, data = message(track, first, status)
            if status < ON + 16:
                changes.append(
                    (time, status & 15, data[0], status >= ON and data[1] > 0)
                )  # a note of loudness 0 ends
    return changes, time


def message(track: Reader, first: int, before: int) -> tuple[int, bytes]:
    """Status and data of a message to a channel; one that begins with data has the status of the
    one before."""
    status = before if first < 0x80 else first
    if not OFF <= status < SYSTEM:
        raise track.wrong(
            "a message of the file is unknown", f"0x{first:02x} at byte {track.place} of a track"
        )
    count = 1 if PROGRAM <= status < PITCH_BEND else 2
    data = bytes([first]) + track.take(count - 1) if first < 0x80 else track.take(count)
    if max(data) >= 0x80:
        raise track.wrong("a message of the file is cut", f"byte {track.place} of a track")
    return status, data


def tokens_of(changes: list[Change], end: int, scale: Fraction, grid: int) -> list[str]:
    """The notes of one voice, each a step of the grid at least, and the rests between them; scale:
    steps in a tick."""
    notes = {
        step_of(time, scale): (note, max(step_of(off, scale), step_of(time, scale) + 1))
        for time, note, off in one_by_one(changes, end)
    }
    starts = [*notes, max([step_of(end, scale), *(stop for _, stop in notes.values())])]
    tokens, now = [], 0
    for start, following in pairwise(starts):
        note, stop = notes[start]
        stop = min(stop, following)
        tokens += [written(None, Fraction(start - now, grid))] if start > now else []
        tokens.append(written(note, Fraction(stop - start, grid)))
        now = stop
    return tokens + ([written(None, Fraction(starts[-1] - now, grid))] if starts[-1] > now else [])


def one_by_one(changes: list[Change], end: int) -> list[tuple[int, int, int]]:
    """When each note begins, which it is, and when it ends: by itself, or because another begins."""
    notes: list[tuple[int, int, int]] = []
    for time, _, note, on in changes:
        if notes and (on or note == notes[-1][1]):
            notes[-1] = (*notes[-1][:2], min(notes[-1][2], time))
        if on:
            notes.append((time, note, end))
    return notes


def step_of(time: int, scale: Fraction) -> int:
    """The step of the grid nearest to a time."""
    return int(time * scale + Fraction(1, 2))


# Writing MIDI


def write_midi(tokens: Iterable[str], path: str | Path, tempo: int = 120) -> None:
    """A melody as a MIDI file of one track, so many quarter notes a minute; the file is written
    whole or not at all."""
    notes = [note_in(token) for token in tokens]
    if not notes:
        raise DataError("a melody needs at least one note")
    if not 4 <= tempo <= 1000:
        raise ConfigError(
            "the tempo lies between 4 and 1000 quarter notes a minute", got=tempo, do="Try 120"
        )
    write_track(b"".join(messages(notes)), path, tempo)


def write_track(content: bytes, path: str | Path, tempo: int) -> None:
    """A file of one track, with its tempo."""
    pace = round(60_000_000 / tempo).to_bytes(3, "big")  # microseconds of a quarter note
    track = bytes([0, META, TEMPO, 3]) + pace + content
    header = b"".join(number.to_bytes(2, "big") for number in (0, 1, QUARTER))
    write_bytes(
        Path(path),
        b"".join(
            name + len(content).to_bytes(4, "big") + content
            for name, content in ((b"MThd", header), (b"MTrk", track))
        ),
    )


def write_roll(
    steps: Sequence[Iterable[int]],
    path: str | Path,
    grid: int = STEPS,
    struck: bool = False,
    tempo: int = 120,
) -> None:
    """Sets of notes as a MIDI file: a note lasts as long as it is in the sets, or, if they say what
    is struck, one step each time."""
    wrong = [note for step in steps for note in step if not 0 <= note <= HIGHEST]
    if wrong:
        raise DataError("this note is too high or too low", got=wrong[0], do="Notes are 0 to 127")
    size = Fraction(4 * QUARTER, grid)  # ticks of a step
    changes: list[tuple[int, int, int]] = []  # when, on or off, which note
    sounding: set[int] = set()
    for place, step in enumerate([*map(set, steps), set()]):
        ended = sounding if struck else sounding - step
        begun = step if struck else step - sounding
        time = round(place * size)
        changes += [(time, OFF, note) for note in sorted(ended)]
        changes += [(time, ON, note) for note in sorted(begun)]
        sounding = step
    told, content = 0, b""
    for time, kind, note in changes:
        content += variable(time - told) + bytes([kind, note, LOUDNESS if kind == ON else 0])
        told = time
    rest = round(len(steps) * size) - told
    write_track(content + variable(rest) + bytes([META, END, 0]), path, tempo)


def messages(notes: list[Note]) -> Iterator[bytes]:
    """Notes on and off, each behind the ticks since the one before; then the end of the track."""
    now, told = Fraction(0), 0  # whole notes; ticks
    for note, duration in notes:
        start, stop = (round(4 * QUARTER * time) for time in (now, now + duration))
        if note is not None and start == stop:
            raise DataError(
                "this note is too short to be written",
                got=written(note, duration),
                do=f"The shortest lasts 1/{4 * QUARTER}",
            )
        if note is not None:
            yield (
                variable(start - told)
                + bytes([ON, note, LOUDNESS])
                + variable(stop - start)
                + bytes([OFF, note, 0])
            )
            told = stop
        now += duration
    yield variable(round(4 * QUARTER * now) - told) + bytes([META, END, 0])


def variable(number: int) -> bytes:
    """The number in bytes of seven bits; all but the last are marked."""
    if number >= 1 << 28:
        raise DataError("a note or rest is too long to be written", got=f"{number:,} ticks")
    sevens = [number >> shift & 0x7F for shift in (21, 14, 7, 0) if number >> shift or not shift]
    return bytes(seven | 0x80 for seven in sevens[:-1]) + bytes(sevens[-1:])
