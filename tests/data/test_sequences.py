"""Sequences: a slice is a view, any other choice equals choosing from a list, and text is never cut inside a character."""

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as some

from seriatim.data import read
from seriatim.data.sequences import NUMBERS, SYMBOLS, TEXT, Field, Sequences
from seriatim.errors import DataError

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # machines are busy
UNICODE = some.text(some.characters(), max_size=8)  # halves of surrogate pairs too
TEXTS = some.lists(UNICODE, max_size=8)
TOKENS = some.lists(some.lists(some.text(some.characters(), max_size=3), max_size=4), max_size=8)
FLOATS = some.floats(allow_nan=False)
SERIES = some.lists(some.lists(FLOATS, max_size=4), max_size=8)
PAIRS = some.lists(some.lists(some.tuples(FLOATS, FLOATS), max_size=4), max_size=8)
COLUMNS = some.one_of(
    TEXTS.map(lambda rows: (Field.of_text(rows), rows)),
    TOKENS.map(lambda rows: (Field.of_symbols(rows), rows)),
    SERIES.map(lambda rows: (Field.of_numbers(rows), rows)),
    PAIRS.map(
        lambda rows: (
            Field.of_numbers([np.array(row, float).reshape(-1, 2) for row in rows]),
            [list(map(list, row)) for row in rows],
        )
    ),
)
COLUMNS_AND_SLICES = COLUMNS.flatmap(
    lambda pair: some.tuples(some.just(pair), some.slices(max(1, len(pair[1]))))
)


def rows_of(column: Field) -> list:
    return [
        row.tolist() if isinstance(row := column.raw(s), np.ndarray) else row
        for s in range(len(column))
    ]


def stream(text: str) -> Sequences:
    return Sequences({"text": Field.of_text([text])}, by="stream")


def text_of(data: Sequences) -> str:
    return data.main.raw(0)


# In and out again


@patient
@given(COLUMNS)
def test_what_goes_in_comes_out(pair):
    column, rows = pair
    assert rows_of(column) == rows and len(column) == len(rows)
    assert column.lengths.sum() == len(column.flat) and (
        column.kind == TEXT or column.lengths.tolist() == [len(row) for row in rows]
    )


def test_kinds_and_storage_are_what_the_docstring_says():
    text, symbols, numbers = (
        Field.of_text(["é", ""]),
        Field.of_symbols([["b", "a"], ["b"]]),
        Field.of_numbers([[1, 2], []]),
    )
    assert (text.kind, text.values.dtype, text.offsets.tolist()) == (TEXT, np.uint8, [0, 2, 2])
    assert (symbols.kind, symbols.values.dtype, symbols.values.tolist(), symbols.names) == (
        SYMBOLS,
        np.int32,
        [0, 1, 0],
        ("b", "a"),
    )
    assert (numbers.kind, numbers.values.dtype.kind, numbers.offsets.tolist()) == (
        NUMBERS,
        "f",
        [0, 2, 2],
    )
    assert all(column.offsets.dtype == np.int64 for column in (text, symbols, numbers))


def test_labels_are_one_symbol_a_sequence():
    labels = Field.of_labels(["spam", "ham", "spam"])
    assert rows_of(labels) == [["spam"], ["ham"], ["spam"]] and labels.lengths.tolist() == [1, 1, 1]


def test_no_sequences_at_all_are_fine():
    for column in (Field.of_text([]), Field.of_symbols([]), Field.of_numbers([])):
        assert len(column) == 0 and len(column.flat) == 0 and len(column.take(slice(None))) == 0


# Choosing


@settings(patient, max_examples=200)
@given(COLUMNS_AND_SLICES)
@example(((Field.of_text(["a", "b"]), ["a", "b"]), slice(None, None, 2**70)))
def test_a_slice_equals_the_slice_of_a_list_and_shares_memory_when_consecutive(drawn):
    (column, rows), chosen = drawn
    part = column.take(chosen)
    assert rows_of(part) == rows[chosen]
    if chosen.indices(len(rows))[2] == 1:
        assert part.values is column.values and np.shares_memory(part.offsets, column.offsets)
        assert not len(part.flat) or np.shares_memory(part.flat, column.values)


@settings(patient, max_examples=200)
@given(COLUMNS_AND_SLICES, some.data())
def test_arbitrary_row_numbers_equal_the_choice_from_a_list(drawn, data):
    (column, rows), first = drawn
    column, rows = column.take(first), rows[first]  # a view that does not begin at 0
    chosen = (
        data.draw(some.lists(some.integers(-len(rows), len(rows) - 1), max_size=10)) if rows else []
    )
    part = column.take(np.array(chosen, np.int64))
    assert rows_of(part) == [rows[i] for i in chosen]
    assert not np.shares_memory(part.values, column.values)
    assert part.offsets[0] == 0 and part.offsets[-1] == len(part.values)


@patient
@given(COLUMNS_AND_SLICES, some.data())
def test_a_mask_equals_the_choice_from_a_list(drawn, data):
    (column, rows), first = drawn
    column, rows = column.take(first), rows[first]
    mask = data.draw(some.lists(some.booleans(), min_size=len(rows), max_size=len(rows)))
    assert rows_of(column.take(np.array(mask, bool))) == [
        row for row, kept in zip(rows, mask) if kept
    ]


@patient
@given(COLUMNS_AND_SLICES, some.data())
def test_a_slice_of_a_slice_equals_that_of_a_list(drawn, data):
    (column, rows), first = drawn
    second = data.draw(some.slices(max(1, len(rows[first]))))
    assert rows_of(column.take(first).take(second)) == rows[first][second]


def test_row_numbers_beyond_the_end_are_refused():
    with pytest.raises(IndexError):
        Field.of_text(["a", "b"]).take(np.array([2]))


# Fields side by side


def table() -> Sequences:
    return Sequences(
        {"label": Field.of_labels("xyxz"), "text": Field.of_text(["one", "zwei", "", "quatre"])},
        lines=np.array([2, 3, 5, 8]),
        origin="a.csv",
    )


@patient
@given(
    some.one_of(
        some.slices(4),
        some.lists(some.integers(-4, 3), max_size=6).map(lambda rows: np.array(rows, np.int64)),
        some.lists(some.booleans(), min_size=4, max_size=4).map(np.array),
    )
)
def test_fields_and_line_numbers_stay_side_by_side(rows):
    data = table()
    part = data[rows]
    expected = np.arange(4)[rows].tolist()
    assert [part[s] for s in range(len(part))] == [data[s] for s in expected]
    assert part.lines.tolist() == [[2, 3, 5, 8][s] for s in expected] and part.origin == "a.csv"


def test_one_row_is_a_record_and_counts_from_both_ends():
    data = table()
    assert data[1] == {"label": ["y"], "text": "zwei"} and data[-1] == data[3] == data[np.int64(3)]
    with pytest.raises(IndexError):
        data[4]
    assert [row["text"] for row in data] == ["one", "zwei", "", "quatre"]


@patient
@given(some.lists(some.integers(0, 4), min_size=2, max_size=4))
def test_fields_of_different_sizes_are_refused(sizes):
    columns = {f"field{i}": Field.of_text("x" * size) for i, size in enumerate(sizes)}
    if len(set(sizes)) == 1:
        assert len(Sequences(columns)) == sizes[0]
    else:
        with pytest.raises(DataError, match="equally many") as error:
            Sequences(columns)
        assert all(f"'field{i}': {size}" in str(error.value) for i, size in enumerate(sizes))


def test_an_unknown_field_is_answered_with_the_nearest():
    with pytest.raises(DataError, match="Did you mean 'label'") as error:
        table().field("lable")
    assert "a.csv" in str(error.value)


def test_the_main_field_is_text_then_tokens_then_the_first_that_is_not_numbers():
    numbers, words, text = (
        Field.of_numbers([[1.0]]),
        Field.of_symbols([["a"]]),
        Field.of_text(["b"]),
    )
    assert Sequences({"n": numbers, "tokens": words, "text": text}).main is text
    assert Sequences({"n": numbers, "other": text, "tokens": words}).main is words
    assert Sequences({"n": numbers, "other": words}).main is words
    assert Sequences({"text": text, "other": words}).only("other").main is words
    for nothing in ({"n": numbers}, {}):
        with pytest.raises(DataError, match="no field of text"):
            _ = Sequences(nothing).main


@pytest.mark.parametrize("header", ["text,label", "label,text"])
def test_the_unit_follows_the_field_that_is_modelled_whatever_the_order_of_columns(
    tmp_path, header
):
    (tmp_path / "a.csv").write_text(header + "\none two,three four\n")
    assert read(str(tmp_path / "a.csv")).unit is None


# Cutting a stream


@settings(patient, max_examples=300)
@given(UNICODE, some.data())
def test_a_cut_never_falls_inside_a_character_and_nothing_is_lost(text, data):
    whole = stream(text)
    size = len(whole.main.flat)
    first, second = sorted(data.draw(some.tuples(some.integers(0, size), some.integers(0, size))))
    parts = [whole.part(0, first), whole.part(first, second), whole.part(second, size)]
    assert "".join(map(text_of, parts)) == text  # each is decoded strictly, by itself
    assert all(
        len(part.main.flat) <= stop - start + 3
        for part, (start, stop) in zip(parts, [(0, first), (first, second), (second, size)])
    )
    assert all(
        np.shares_memory(part.main.flat, whole.main.values) for part in parts if len(part.main.flat)
    )


@patient
@given(UNICODE, some.data())
def test_a_part_of_a_part_is_a_part(text, data):
    characters = len(text)
    first, second = sorted(
        data.draw(some.tuples(some.integers(0, characters), some.integers(0, characters)))
    )
    size = [len(text[:place].encode("utf-8", "surrogatepass")) for place in (first, second)]
    inner = (
        stream("before" + text).part(6, 6 + len(text.encode("utf-8", "surrogatepass"))).part(*size)
    )
    assert text_of(inner) == text[first:second]


def test_a_part_ends_where_its_stream_ends():
    train, test = stream("abcdefghij").split(0.5, 0.5)
    assert text_of(train.part(3, 100)) == "de"
    assert test.part(3, 100).main.lengths.tolist() == [2]  # the offsets too


def test_symbols_are_cut_anywhere():
    symbols = Sequences({"tokens": Field.of_symbols([["ä", "b", "ä", "ö"]])}, by="stream")
    assert symbols.part(1, 3).main.raw(0) == ["b", "ä"]


def test_only_a_single_stream_is_cut_inside():
    with pytest.raises(DataError, match="single stream"):
        table().part(0, 1)


def test_a_hundred_million_symbols_are_cut_and_sliced_without_a_copy():
    values = np.zeros(100_000_000, np.uint8)  # never touched, hence never in memory
    lines = Field(values, np.arange(0, 100_000_001, 1_000_000), TEXT)
    whole = Sequences({"text": Field(values, np.array([0, len(values)]), TEXT)}, by="stream")
    parts = [
        *(part.main for part in whole.split(0.8, 0.1, 0.1)),
        whole.part(10**7, 9 * 10**7).main,
        whole[:1].main,
        lines.take(slice(1, 99)),
        lines.take(slice(3, 4)),
    ]
    assert [len(part.flat) for part in parts] == [
        80_000_000,
        10_000_000,
        10_000_000,
        80_000_000,
        100_000_000,
        98_000_000,
        1_000_000,
    ]
    assert all(
        part.values is values
        and np.shares_memory(part.flat, values)
        and np.shares_memory(part.row(0), values)
        for part in parts
    )
