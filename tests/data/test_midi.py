"""Melodies: what is written is read back, real MIDI files give their notes, and damaged ones a DataError."""

from __future__ import annotations

from fractions import Fraction
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from seriatim.data import read
from seriatim.data.corpora.tunes import SCALES, tunes
from seriatim.data.formats import midi, read_files
from seriatim.data.formats.midi import parse_melody, read_midi, write_midi
from seriatim.errors import ConfigError, DataError, RunError

NAMES = ["C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B"]
PITCHES = some.integers(0, 127).map(lambda note: f"{NAMES[note % 12]}{note // 12 - 1}")
DURATIONS = some.integers(1, 200).map(
    lambda steps: "{}/{}".format(*Fraction(steps, 32).as_integer_ratio())
)
TOKENS = some.lists(
    some.tuples(some.one_of(PITCHES, some.just("R")), DURATIONS).map(":".join),
    min_size=1,
    max_size=20,
)
# The example at the end of "Standard MIDI Files 1.0", as one track and as four
EXAMPLE = bytes.fromhex(
    "4D546864 00000006 0000 0001 0060 4D54726B 0000003B 00FF580404021808 00FF510307A120 00C005 00C12E 00C246 00923060 003C60"
    "60914340 60904C20 8140823040 003C40 00814340 00804C40 00FF2F00"
)
FOUR = bytes.fromhex(
    "4D546864 00000006 0001 0004 0060 4D54726B 00000014 00FF580404021808 00FF510307A120 8300FF2F00 4D54726B 00000010 00C005"
    "8140904C20 81404C00 00FF2F00 4D54726B 0000000F 00C12E 60914340 82204300 00FF2F00 4D54726B 00000015 00C246 00923060"
    "003C60 83003000 003C00 00FF2F00"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("melodies")


def track(content: str, kind: int = 0, quarter: int = 8) -> bytes:
    """A file of one track, in hexadecimal digits; a tick is 1/32 of a whole note."""
    body = bytes.fromhex(content)
    return (
        b"MThd"
        + bytes([0, 0, 0, 6, 0, kind, 0, 1])
        + quarter.to_bytes(2, "big")
        + b"MTrk"
        + len(body).to_bytes(4, "big")
        + body
    )


def notes_of(folder: Path, content: bytes, grid: int = 32) -> str:
    (folder / "a.mid").write_bytes(content)
    return " ".join(read_midi(str(folder / "a.mid"), grid))


# Text


@pytest.mark.parametrize(
    "text, expected",
    [
        ("C4:1/4", "C4:1/4"),
        ("c4:2/8\n\n r:1/8\t", "C4:1/4 R:1/8"),
        ("Db4:1/4 Cb4:1/4 B#3:1/4 E#5:3/8", "C#4:1/4 B3:1/4 C4:1/4 F5:3/8"),
        ("F##4:1 Gbb4:10/4", "G4:1/1 F4:5/2"),
        ("C-1:1/32 G9:1/3", "C-1:1/32 G9:1/3"),
        ("", ""),
    ],
)
def test_notes_are_brought_to_their_usual_form(text, expected):
    assert parse_melody(text) == expected.split()


@given(TOKENS)
def test_the_usual_form_stays(tokens):
    assert parse_melody(" ".join(tokens)) == tokens


@pytest.mark.parametrize(
    "token",
    [
        "C4",
        "C4:",
        "H4:1/4",
        "C4:0/4",
        "C4:1/0",
        "C:1/4",
        "C4:-1/4",
        "C4:1/4/4",
        "R4:1/4",
        "C###4:1/4",
        "Cb-1:1/4",
        "G#9:1/4",
        "C4:٣/4",
        "C4:1/9999999999",
    ],
)
def test_what_is_no_note_is_named_with_its_line(token):
    with pytest.raises(DataError) as caught:
        parse_melody(f"C4:1/4\n{token} R:1/4")
    assert caught.value.line == 2 and caught.value.got == token


# MIDI


@settings(deadline=None)
@given(TOKENS, some.integers(4, 1000))
@example(["R:1/4"] * 2 + ["C4:1/4", "C4:1/32"] * 2 + ["R:1/8"], 120)
def test_what_is_written_is_read_back_but_for_rests_that_touch(folder, tokens, tempo):
    write_midi(tokens, folder / "b.mid", tempo)
    merged = []
    for pitch, group in groupby(tokens, key=lambda token: token if token[0] != "R" else "R"):
        durations = [Fraction(token.split(":")[1]) for token in group]
        merged += (
            ["R:{}/{}".format(*sum(durations).as_integer_ratio())]
            if pitch == "R"
            else [pitch] * len(durations)
        )
    if any(token[0] != "R" for token in tokens):
        assert read_midi(str(folder / "b.mid")) == merged
    else:
        with pytest.raises(DataError, match="no notes"):
            read_midi(str(folder / "b.mid"))


def test_the_bytes_of_a_file(folder):
    write_midi(["C4:1/4", "R:1/4", "Db4:1/2"], folder / "c.mid")
    assert (folder / "c.mid").read_bytes() == bytes.fromhex(
        "4D546864 00000006 0000 0001 01E0 4D54726B 0000001E 00FF510307A120 00903C50 8360803C00 8360903D50 8740803D00 00FF2F00"
    )


def test_the_examples_of_the_standard(folder):
    assert notes_of(folder, EXAMPLE) == "C4:1/1" and notes_of(folder, FOUR) == "R:1/2 E5:1/2"


@pytest.mark.parametrize(
    "content, expected",
    [
        ("00903C40 08803C40", "C4:1/4"),
        ("00903C40 083C00 043E40 043E00", "C4:1/4 R:1/8 D4:1/8"),
        ("00903C40 083E40 08803C40 083E40", "C4:1/4 D4:1/2"),
        ("00903C40 004040 084000 00803C40", "E4:1/4"),
        ("00903C40 10FF2F00", "C4:1/2"),
        ("00903C40 01FF010141 02F00141 03F700 023C00", "C4:1/4"),
        ("00C005 00D005 00E00040 00913C40 00B00740 04903E40 04813C40", "C4:1/4"),
        ("00903C40 043C40 043C00", "C4:1/8 C4:1/8"),
        ("00803C40 04903C40 04803C40 08FF2F00", "R:1/8 C4:1/8 R:1/4"),
        ("00903C40 00803C40 08903E40 08803E40", "C4:1/32 R:7/32 D4:1/4"),
        ("00903C40 08803C40 00FF2F00 00903E40", "C4:1/4"),
    ],
)
def test_notes_of_one_track(folder, content, expected):
    assert notes_of(folder, track(content)) == expected


def test_times_are_rounded_to_the_grid(folder):
    content = track(
        "00903C40 7E803C40 02903E40 817D803E40", quarter=128
    )  # 126 of 128 ticks, then 253 of 256
    assert (
        notes_of(folder, content) == "C4:1/4 D4:1/2"
        and notes_of(folder, content, grid=512) == "C4:63/256 R:1/256 D4:253/512"
    )
    with pytest.raises(ConfigError, match="grid"):
        notes_of(folder, content, grid=0)


def test_other_chunks_are_passed_over(folder):
    content = track("00903C40 08803C40")
    assert notes_of(folder, content[:14] + b"XFIH\0\0\0\2ab" + content[14:] + b"behind") == "C4:1/4"


@pytest.mark.parametrize(
    "content, words",
    [
        (b"", "not a MIDI"),
        (b"RIFF....", "not a MIDI"),
        (b"MThd\0\0\0\2\0\0", "too early"),
        (track("", kind=2), "format 2"),
        (track("", quarter=0), "division"),
        (track("", quarter=0xE728), "division"),
        (track(""), "no notes"),
        (track("00903C40")[:-1], "too early"),
        (track("0090"), "too early"),
        (track("FFFFFFFF7F"), "does not end"),
        (track("003C40"), "unknown"),
        (track("00F140"), "unknown"),
        (track("0090FF40"), "cut"),
        (track("00FF01FFFFFF7F"), "too early"),
        (track("00F08480808000"), "does not end"),
        (b"MThd\0\0\0\6\0\1\0\2\0\x60" + track("")[14:], "too early"),
        (b"MThd\0\0\0\6\0\1\0\1\0\x60MTrk\xff\xff\xff\xff", "too early"),
    ],
)
def test_damaged_files_are_refused(folder, content, words):
    with pytest.raises(DataError, match=words) as caught:
        notes_of(folder, content)
    assert caught.value.file == str(folder / "a.mid")


@pytest.mark.parametrize("content", [EXAMPLE, FOUR])
def test_a_file_cut_anywhere_is_refused(folder, content):
    for length in range(len(content)):
        with pytest.raises(DataError):
            notes_of(folder, content[:length])


@settings(deadline=None, max_examples=300)
@given(some.binary(max_size=60), some.booleans())
def test_random_bytes_give_notes_or_a_data_error(folder, content, framed):
    try:
        tokens = notes_of(folder, track(content.hex()) if framed else content).split()
    except DataError:
        return
    assert tokens and parse_melody(" ".join(tokens)) == tokens


@pytest.mark.parametrize(
    "tokens, tempo, error",
    [
        ([], 120, DataError),
        (["X"], 120, DataError),
        (["C4:1/4"], 0, ConfigError),
        (["C4:1/4"], 1001, ConfigError),
        (["C4:1/9999"], 120, DataError),
        (["C4:999999/1"], 120, DataError),
    ],
)
def test_what_cannot_be_written_is_not(folder, tokens, tempo, error):
    with pytest.raises(error):
        write_midi(tokens, folder / "never.mid", tempo)
    assert not (folder / "never.mid").exists()
    with pytest.raises(RunError):
        write_midi(["C4:1/4"], folder / "no" / "where.mid")


def test_a_midi_file_is_a_sequence_of_tokens(folder):
    (folder / "tune.midi").write_bytes(FOUR)
    data = read(folder / "tune.midi")
    assert (data[0], data.by, data.unit, len(data)) == (
        {"tokens": ["R:1/2", "E5:1/2"]},
        "line",
        "token",
        1,
    )


# Generated tunes


def test_tunes_are_phrases_in_a_key_one_of_them_heard_three_times():
    data, scales = (
        tunes("tunes:count=150,seed=4"),
        {
            tuple(sorted((first + step) % 12 for step in scale))
            for scale in SCALES.values()
            for first in range(12)
        },
    )
    assert (data.by, data.unit, len(data), len(scales)) == (
        "line",
        "token",
        150,
        12,
    )  # each minor key has the notes of a major one
    lengths = set()
    for row in data:
        tokens = row["tokens"]
        assert parse_melody(" ".join(tokens)) == tokens
        ends = [
            sum(Fraction(token.split(":")[1]) for token in tokens[:place])
            for place in range(len(tokens) + 1)
        ]
        a, again, b, last = (
            tokens[ends.index(ends[-1] * k / 4) : ends.index(ends[-1] * (k + 1) / 4)]
            for k in range(4)
        )
        assert (
            a == again == last
            and (NAMES.index(b[-1].split(":")[0][:-1]) - NAMES.index(a[-1].split(":")[0][:-1])) % 12
            == 7
        )
        notes = {NAMES.index(token.split(":")[0][:-1]) for token in tokens if token[0] != "R"}
        assert any(notes <= set(scale) for scale in scales)
        lengths.add(ends[-1])
    assert lengths == {8, 12, 16}


def test_tunes_follow_from_their_seed():
    one, same, other = (read(f"tunes:count=20,seed={seed}") for seed in (1, 1, 2))
    assert [*one] == [*same] != [*other] and len(read("tunes")) == 2000
    with pytest.raises(ConfigError, match="Did you mean 'count'"):
        read("tunes:counts=3")


def test_a_roll_is_written_and_read_back(tmp_path):
    steps = [[60, 64, 67], [60, 64], [], [62], [62], [62, 50]]
    midi.write_roll(steps, tmp_path / "a.mid")
    assert midi.roll_of(str(tmp_path / "a.mid")) == ["60+64+67", "60+64", ".", "62", "62", "50+62"]
    # a note that is held is one note; struck again, it is several
    begun = midi.roll_of(str(tmp_path / "a.mid"), struck=True)
    assert begun == ["60+64+67", ".", ".", "62", ".", "50"]
    midi.write_roll(steps, tmp_path / "b.mid", grid=8, struck=True)
    again = midi.roll_of(str(tmp_path / "b.mid"), grid=8, struck=True)
    assert again == ["60+64+67", "60+64", ".", "62", "62", "50+62"]
    assert midi.roll_of(str(tmp_path / "b.mid"), grid=16)[:4] == ["60+64+67"] * 2 + ["60+64"] * 2


def test_all_notes_of_a_chord_are_kept_and_a_grid_has_its_limits(tmp_path):
    midi.write_roll([[60, 64, 67]] * 4, tmp_path / "a.mid")
    data = read_files(tmp_path / "a.mid", input_format="roll", own={"grid": 4})
    assert data[0]["tokens"] == ["60+64+67"]
    for grid in (0, 5000):
        with pytest.raises(ConfigError, match="1 to 1,920 steps"):
            midi.roll_of(str(tmp_path / "a.mid"), grid)
    with pytest.raises(DataError, match="too high"):
        midi.write_roll([[128]], tmp_path / "b.mid")
