"""Anything in memory -> Sequences: lists, pairs, columns, arrays, and frames of any library.

    texts, token lists, rows of numbers     a sequence each
    pairs (text, label), and (X, y)         a sequence each, and what is said of it
    dicts of columns, frames, rows as dicts a table, read as a file with the same columns is
    numbers over time                       a table with a row for each time

Where a thing could be two, what the task wants decides: see `FORMS`. Frames of pandas, polars and
pyarrow are known by narwhals, none of them is imported here. Shapes: S sequences, T steps, C
channels.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from seriatim.data.cells import field_in, field_of_cells, numbers_in_cells, plain_cells
from seriatim.data.columns import number_field
from seriatim.data.files import STANDARD_INPUT, bare_ending, similar_files
from seriatim.data.headers import SYNONYMS, known_name
from seriatim.data.sequences import NUMBERS, SYMBOLS, TEXT, Field, Sequences
from seriatim.errors import ConfigError, DataError, shorten

TABLE = "a dict of columns, a frame of pandas, polars or pyarrow, a list of dicts"
FORMS = {  # what is understood, by what is wanted
    "": f"a list of texts, of token lists or of arrays of numbers, {TABLE}, or a file",
    "label": "a list of pairs (text, label), a tuple of (texts, labels), "
    f"{TABLE} with the columns text and label, or a file",
    "value": "a list of pairs (text, number), a tuple of (texts, numbers), "
    f"{TABLE} with the columns text and value, or a file",
    "labels": "a list of pairs (text, list of labels), a tuple of (texts, lists of labels), "
    f"{TABLE} with the columns text and labels, or a file",
    "tags": "a list of pairs (tokens, tags), of sentences [(token, tag), ...], a tuple of (token "
    f"lists, tag lists), {TABLE} with the columns tokens and tags, or a file",
    "pair": "a list of pairs (source, target), a tuple of (sources, targets), "
    f"{TABLE} with the columns source and target, or a file",
    "series": "numbers (a list, an array, a Series), a 2-D array with a row for each time, a list of "
    "arrays with a series each, pairs (time, number), a dict of columns, a frame of pandas, polars or "
    "pyarrow, or a file",
}
PAIRS = {  # what the two of a pair are
    "label": ("text", "label"),
    "value": ("text", "value"),
    "labels": ("text", "labels"),
    "tags": ("tokens", "tags"),
    "pair": ("source", "target"),
    "series": ("time", "value"),
}
READ = ("text", "tokens", "values")  # a main field by its kind
MEMORY = "memory"


@runtime_checkable
class Arrayable(Protocol):
    """What numpy makes an array of: tensors, arrays of Arrow, an index of pandas."""

    def __array__(self) -> np.ndarray: ...


@runtime_checkable
class ArrowStream(Protocol):
    """What hands over columns by the protocol of Arrow: batches, results of queries."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


@dataclass(frozen=True)
class Asked:
    """How a thing is to be understood."""

    wants: str = ""  # label, value, tags, pair, series, or nothing besides
    columns: str | Sequence[str] | None = None  # names for the cells of rows
    label: str | None = None
    field: str | None = None
    gaps: bool = False
    notes: list[str] = dataclass_field(default_factory=list)  # takes what is worth knowing

    @property
    def names(self) -> list[str]:
        """The names that were given to columns."""
        given = self.columns.split(",") if isinstance(self.columns, str) else self.columns or ()
        return [known_name(name.strip()) for name in given]


# -- files, or not


def files_in(source: Any) -> list[str] | None:
    """The files that a source names; None if it is the data itself.

    A Path is a file, and so is each of several. A string is a file or a built-in corpus if there is
    one of that name; else, with a blank or a line break in it, one text. Any other is refused.
    """
    if isinstance(source, os.PathLike):
        return [os.fspath(source)]
    if isinstance(source, str):
        return [source] if names_file(source) else None
    several = source if isinstance(source, (list, tuple)) else ()
    paths = [str(each) for each in several if isinstance(each, Path)]
    return paths if paths and len(paths) == len(several) else None


def is_file(source: Any) -> bool:
    """Whether a at_hand source names a file, or several."""
    return not isinstance(source, Sequences) and files_in(source) is not None


def names_file(words: str) -> bool:
    """Whether a string is the name of a file or of a corpus, and not a text."""
    from seriatim.data.corpora.table import is_corpus

    blank = any(letter.isspace() for letter in words)
    if words == STANDARD_INPUT or os.path.exists(words) or (is_corpus(words) and not blank):
        return True
    if blank and not ("\n" not in words and has_ending(words)):
        return False
    hint = similar_files(words)
    hint = f"{hint} " if hint.endswith("?") else ""  # and not all names of the folder
    text = f"[{shorten(words)!r}]"
    raise DataError(
        f"there is no file {shorten(words)!r}",
        do=f"{hint}A text by itself goes into a list: {text}",
    )


def has_ending(words: str) -> bool:
    """Whether words end as the names of files do that can be read."""
    from seriatim.data.formats import FORMATS

    endings = {ending for row in FORMATS.values() for ending in row.endings}
    return bare_ending(words) in endings


# -- one way to look at each kind of thing


def at_hand(thing: Any) -> Any:
    """The same as something that can be looked at twice: generators as lists, frames and columns as
    narwhals has them, whatever else numpy knows as arrays."""
    if isinstance(thing, (Sequences, str, bytes, Mapping, list, tuple, np.ndarray, os.PathLike)):
        return thing
    stream = isinstance(thing, ArrowStream)
    if isinstance(thing, Iterator) and not isinstance(thing, io.IOBase) and not stream:
        return list(thing)
    if isinstance(thing, (io.IOBase, set, frozenset)) or np.isscalar(thing) or thing is None:
        return thing
    import narwhals as nw

    try:
        known: Any = nw.from_native(thing, allow_series=True, pass_through=True)
        if stream and not isinstance(known, (nw.DataFrame, nw.Series)):
            known = nw.from_arrow(thing, backend="polars")
    except nw.exceptions.DuplicateError as error:
        raise DataError("every column needs a name of its own", got=error) from None
    if isinstance(known, nw.LazyFrame):
        return known.collect()
    if isinstance(known, (nw.DataFrame, nw.Series)):
        return known
    library = sys.modules.get("datasets")  # nobody has a Dataset who has not imported it
    if library is not None and isinstance(thing, library.Dataset):
        return thing.to_dict()
    if isinstance(thing, Arrayable):
        return np.asarray(thing)
    return list(thing) if isinstance(thing, Iterable) else thing


def is_frame(thing: Any) -> bool:
    """Whether a at_hand thing is a frame."""
    nw = sys.modules.get("narwhals")
    return nw is not None and isinstance(thing, nw.DataFrame)


def is_column(thing: Any) -> bool:
    """Whether a at_hand thing is one column of a frame."""
    nw = sys.modules.get("narwhals")
    return nw is not None and isinstance(thing, nw.Series)


def holds_columns(thing: Any) -> bool:
    """Whether a thing has columns with names, so that its items are no sequences."""
    thing = at_hand(thing)
    return isinstance(thing, Mapping) or is_frame(thing)


def has_rows(thing: Any) -> bool:
    """Whether a thing is rows whose cells have no names, so that these can be given."""
    if isinstance(thing, np.ndarray):
        return thing.ndim == 2
    return isinstance(thing, list) and bool(thing) and all(isinstance(x, tuple) for x in thing)


# -- from a thing to sequences


def table_of(
    thing: Any,
    wants: str = "",
    columns: str | Sequence[str] | None = None,
    label: str | None = None,
    field: str | None = None,
    by: str | None = None,
    unit: str | None = None,
    gaps: bool = False,
    notes: list[str] | None = None,
) -> Sequences:
    """Whatever is in memory as a table of sequences, as a reader of files gives it.

    >>> table_of([("a cat", "pet"), ("an oak", "tree")], wants="label")[0]
    {'text': 'a cat', 'label': ['pet']}
    """
    asked = Asked(wants, columns, label, field, gaps, [] if notes is None else notes)
    thing = at_hand(thing)
    if isinstance(thing, Sequences):
        return thing
    if asked.names and not has_rows(thing):
        raise ConfigError(
            "names are given to columns that have none: of a list of tuples, or of a 2-D array",
            got=f"--columns {','.join(asked.names)}, with {kind_of(thing)}",
            do="Leave that out; columns that have names are chosen with --field and --label",
        )
    fields = fields_of(thing, asked)
    if not len(next(iter(fields.values()), ())):
        raise DataError("there is nothing in it", got=kind_of(thing), do=f"Give {FORMS[wants]}")
    fields = streamed(fields, field) if by == "stream" else fields
    return Sequences(fields, by="stream" if by == "stream" else "line", unit=unit, origin=MEMORY)


def fields_of(thing: Any, asked: Asked) -> dict[str, Field]:
    """The fields of a at_hand thing."""
    if isinstance(thing, Mapping):
        return of_columns(thing, asked)
    if is_frame(thing):
        return of_frame(thing, asked)
    if is_column(thing):
        return of_column(thing, asked)
    if isinstance(thing, np.ndarray):
        return of_array(thing, asked)
    if isinstance(thing, tuple) and len(thing) == 2 and asked.wants in PAIRS:
        both = [at_hand(each) for each in thing]
        if belong_together(both, asked):
            return of_both(both[0], both[1], asked)
    if isinstance(thing, (list, tuple)):
        return of_items(list(thing), asked)
    raise not_understood(thing, asked)


def not_understood(thing: Any, asked: Asked, why: str = "") -> DataError:
    """The error of a thing that is none of the forms."""
    ways: dict[type, str] = {
        bytes: "Decode it: text.decode()",
        set: "A set has no order: give a list",
        frozenset: "A set has no order: give a list",
    }
    known = ways.get(type(thing), "")
    if isinstance(thing, io.IOBase):
        known = "Give the path of the file, or the text that was read from it, in a list"
    return DataError(
        why or "this cannot be understood as sequences",
        got=kind_of(thing),
        do=(f"{known}. " if known else "") + f"Give {FORMS[asked.wants]}",
    )


def kind_of(thing: Any) -> str:
    """What a thing is, in Python's words."""
    if isinstance(thing, np.ndarray):
        return f"an array of {thing.dtype}, {'x'.join(map(str, thing.shape)) or 'a single one'}"
    if isinstance(thing, (list, tuple)) and len(thing):
        inside = sorted({type(each).__name__ for each in thing})
        return f"a {type(thing).__name__} of {len(thing):,}: {', '.join(inside[:4])}"
    if is_frame(thing):
        return f"a frame with the columns {', '.join(map(str, thing.columns[:10]))}"
    return "an empty list" if isinstance(thing, (list, tuple)) else type(thing).__name__


def streamed(fields: dict[str, Field], chosen: str | None) -> dict[str, Field]:
    """All sequences as one: texts one after another, or tokens."""
    data = Sequences(fields)
    name = chosen or data.main_name() or next(iter(fields))
    column = data.field(name)
    rows = range(len(column))
    if column.kind == TEXT:
        return {name: Field.of_text(["".join(str(column.raw(s)) for s in rows)])}
    if column.kind == SYMBOLS:
        return {name: Field.of_symbols([list(chain(*(column.raw(s) for s in rows)))])}
    raise DataError("numbers are no stream of text", do="Give texts or tokens, or leave out --by")


# -- columns with names


def of_columns(table: Mapping[Any, Any], asked: Asked) -> dict[str, Field]:
    """The fields of columns, each as its name and its cells call for. What no field can hold is left
    out, unless it is what is wanted."""
    columns = {known_name(str(name)): at_hand(column) for name, column in table.items()}
    if len(columns) < len(table):
        raise DataError("every column needs a name of its own", got=", ".join(map(str, table)))
    refuse_no_columns(columns, ", ".join(map(str, table)))
    refuse_unequal(columns)
    needed = needed_in(list(columns), asked)
    fields = {}
    for name, column in columns.items():
        found = field_of_cells(name, column, name in needed and not asked.gaps, name in needed)
        if found is None:
            asked.notes.append(f"{MEMORY}: the column {name!r} is not read: {kind_of(column)}")
        else:
            fields[name] = found
    if not fields:
        raise DataError("no column can be read", got=", ".join(map(str, table)) or "no columns")
    return fields


def refuse_no_columns(columns: Mapping[str, Any], names: str) -> None:
    """A column is neither a table nor a single value."""
    for name, column in columns.items():
        if isinstance(column, Mapping) or is_frame(column):
            raise DataError("these are several tables", got=names, do="Give one of them")
        if isinstance(column, (str, bytes)) or np.isscalar(column) or column is None:
            raise DataError(
                f"{name!r} is no column",
                got=kind_of(column),
                do="A column is a list, an array or a Series with a cell for each sequence",
            )


def refuse_unequal(columns: Mapping[str, Any]) -> None:
    """Columns have a cell for each sequence."""
    sizes = {name: len(column) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        few = ", ".join(f"{name} {size:,}" for name, size in list(sizes.items())[:10])
        raise DataError("columns are equally long", got=few, do="Give each sequence a cell in each")


def needed_in(names: list[str], asked: Asked) -> set[str]:
    """The columns that the task cannot do without: as named, or the first of each usual name."""
    plain = {name.lower(): name for name in reversed(names)}
    found = {asked.label, asked.field}
    for role, chosen in ((asked.wants, asked.label), ("text", asked.field)):
        usual = (role, *SYNONYMS.get(role, ()))
        found.add(chosen or next((plain[each] for each in usual if each in plain), None))
    more = {"tags": ("tokens", "tags"), "pair": ("source", "target")}.get(asked.wants, ("tokens",))
    return {name for name in (*found, *more) if name is not None}


def of_frame(frame: Any, asked: Asked) -> dict[str, Field]:
    """The columns of a frame. For series, an index that tells the time, or has a name, is a column;
    a frame of nothing but numbers, of which something is to be said, has a sequence in each row."""
    frame = with_index(frame) if asked.wants == "series" else frame
    columns = {str(name): frame.get_column(name) for name in frame.columns}
    numbers = len(columns) > 1 and all(column.dtype.is_numeric() for column in columns.values())
    names = {known_name(name).lower() for name in columns}
    said = names & {asked.wants, *SYNONYMS.get(asked.wants, ())}
    if numbers and asked.wants in ("label", "value") and not (asked.label or asked.field or said):
        return of_array(frame.to_numpy(), asked)
    return of_columns(columns, asked)


def of_column(column: Any, asked: Asked) -> dict[str, Field]:
    """One column: texts or tokens, a sequence each; numbers as one sequence, or over time."""
    if asked.wants == "series":
        return of_frame(column.alias(str(column.name or "value")).to_frame(), asked)
    cells = plain_cells(column)
    return of_items(cells, asked) if isinstance(cells, list) else of_array(cells, asked)


def with_index(frame: Any) -> Any:
    """A frame of pandas with its index among the columns, if that tells the time or has a name."""
    import narwhals as nw

    index: Any = nw.maybe_get_index(frame)
    if index is None:
        return frame
    pandas: Any = nw.get_native_namespace(frame)
    if isinstance(index, pandas.PeriodIndex):
        index = index.to_timestamp()
    timed = isinstance(index, pandas.DatetimeIndex)
    names = [name for name in index.names if name is not None]
    if not (timed or names) or set(names) & set(frame.columns):
        return frame
    plain = nw.to_native(frame).set_axis(index, axis=0)
    first = "time" if timed and not names else None
    moved = plain.rename_axis(index=first).reset_index() if first else plain.reset_index()
    return nw.from_native(moved)


# -- arrays


def of_array(array: np.ndarray, asked: Asked) -> dict[str, Field]:
    """Numbers by their dimensions; texts as a list of them."""
    if array.dtype.kind not in "biuf":
        return of_words(array, asked)
    if array.ndim not in (1, 2, 3) or not array.size:
        raise not_understood(array, asked)
    if asked.wants == "series":
        return over_time(array, asked)
    if asked.names:
        if array.ndim != 2 or len(asked.names) != array.shape[1]:
            raise wrong_names(asked, array.shape[-1])
        return of_columns(dict(zip(asked.names, array.T)), asked)
    rows = [array] if array.ndim == 1 else list(array)
    return {"values": Field.of_numbers(rows)}


def over_time(array: np.ndarray, asked: Asked) -> dict[str, Field]:
    """(T,) one series; (T, C) a channel in each column; (S, T, C) several series."""
    values = array.astype(np.float64)
    flat = values.reshape(-1, 1) if values.ndim == 1 else values.reshape(-1, values.shape[-1])
    wide = flat.shape[1]
    names = asked.names or (["value"] if wide == 1 else [f"channel{i + 1}" for i in range(wide)])
    if len(names) != wide:
        raise wrong_names(asked, wide)
    fields = {name: number_field(column) for name, column in zip(names, flat.T)}
    if values.ndim < 3:
        return fields
    return {"series": number_field(np.repeat(np.arange(len(values)), values.shape[1]))} | fields


def of_words(array: np.ndarray, asked: Asked) -> dict[str, Field]:
    """An array of texts; of two columns pairs, where these are wanted."""
    if array.ndim not in (1, 2) or array.dtype.kind not in "OU":
        raise not_understood(array, asked)
    items = array.tolist()
    pairs = array.ndim == 2 and (asked.names or (array.shape[1] == 2 and asked.wants in PAIRS))
    return of_items([tuple(each) for each in items] if pairs else items, asked)


def wrong_names(asked: Asked, many: int) -> ConfigError:
    """The error of names that are not as many as the columns."""
    return ConfigError(
        "every column needs a name of its own",
        got=f"{len(asked.names)} names for {many} columns",
        do="Give as many names with --columns, or none",
    )


# -- lists


def of_items(items: list[Any], asked: Asked) -> dict[str, Field]:
    """A list of texts, of rows as dicts, of numbers, of pairs, or of sequences."""
    kinds = {type(each) for each in items}
    if items and all(issubclass(kind, Mapping) for kind in kinds):
        return of_columns(columns_of(items), asked)
    if tuple in kinds and len(kinds) == 1 and (asked.names or pairs_there(items, asked)):
        return of_rows(items, asked)
    if asked.wants == "tags" and items and all(map(tagged, items)):
        pairs = [tuple(map(list, zip(*sentence))) for sentence in items]
        return of_rows(pairs, asked)
    numbers = numbers_in_cells(items)
    if numbers is not None:
        return of_array(numbers, asked)
    items = [each if isinstance(each, str) else at_hand(each) for each in items]
    if asked.wants == "series":
        return of_several(items, asked)
    return dict([main_of(items, asked)])


def columns_of(rows: list[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Rows as dicts -> columns; all have the same keys."""
    for place, row in enumerate(rows):
        if row.keys() != rows[0].keys():
            raise DataError(
                f"the keys of row {place} differ from those of the first",
                got=", ".join(map(str, row)),
                do=f"Expected: {', '.join(map(str, rows[0]))}",
            )
    return {name: [row[name] for row in rows] for name in rows[0]}


def pairs_there(items: list[Any], asked: Asked) -> bool:
    """Whether tuples are pairs of a sequence and what is said of it; two words are, too."""
    if asked.wants not in PAIRS or any(len(each) != 2 for each in items):
        return False
    return asked.wants != "series" or numbers_in_cells([first for first, _ in items]) is None


def tagged(sentence: Any) -> bool:
    """Whether a list is a sentence of words with their tags: [("the", "DET"), ("cat", "NOUN")]."""
    return (
        isinstance(sentence, list)
        and len(sentence) > 0
        and all(isinstance(word, tuple) and len(word) == 2 for word in sentence)
    )


def of_rows(rows: list[tuple[Any, ...]], asked: Asked) -> dict[str, Field]:
    """Tuples as rows of a table, whose columns are named or follow from what is wanted."""
    wide = {len(row) for row in rows}
    names = asked.names or PAIRS[asked.wants]
    if wide != {len(names)}:
        raise wrong_names(asked, max(wide))
    columns = list(map(list, zip(*rows)))
    if asked.names or asked.wants == "series":
        return of_columns(dict(zip(names, columns)), asked)
    refuse_odd_pairs(columns, asked)
    return of_both(columns[0], columns[1], asked)


def refuse_odd_pairs(columns: list[list[Any]], asked: Asked) -> None:
    """Pairs that are written the other way round, and words whose sentence has no end."""
    first, second = columns
    if not all(isinstance(each, str) for each in (*first, *second)):
        return
    few = len(set(first)) <= len(first) // 2
    if asked.wants == "label" and len(first) > 3 and few and len(set(second)) == len(second):
        raise DataError(
            "pairs are (text, label), and these look like (label, text): no label comes again",
            got=(first[0], second[0]),
            do="Turn them round, or name them: --columns label,text",
        )
    if asked.wants == "tags" and len(first) > 1 and all(len(each.split()) == 1 for each in first):
        raise DataError(
            "these are words with their tags, and it is not said where sentences end",
            got=(first[0], second[0]),
            do="Give a list of sentences: [[(token, tag), ...], ...]",
        )


def belong_together(both: list[Any], asked: Asked) -> bool:
    """Whether two things are columns, (X, y), and not two sequences: lists, arrays or frames, equally
    long. Tuples of two are pairs."""
    if asked.wants == "series" or asked.names:
        return False
    columns = all(
        isinstance(each, (list, np.ndarray, Mapping))
        or (isinstance(each, tuple) and len(each) != 2)
        or is_frame(each)
        or is_column(each)
        for each in both
    )
    if not columns or holds_columns(both[1]):
        return False
    sizes = [len_of(each) for each in both]
    if sizes[0] != sizes[1]:
        raise DataError(
            "a tuple of two is (sequences, what is said of them), which are equally many",
            got=f"{sizes[0]:,} and {sizes[1]:,}",
            do=f"Give {FORMS[asked.wants]}",
        )
    return True


def said_apart(first: Any, second: Any, wants: str) -> bool:
    """Whether the second of two things is no data of its own, but what is to be said of the first: as
    many single cells, or of tags lists of them, without a sequence beside them."""
    listed = (list, np.ndarray)
    if wants not in PAIRS or wants == "series" or isinstance(second, Sequences):
        return False
    if not (isinstance(first, listed) or is_tabular(first)) or isinstance(second, tuple):
        return False
    cells = cells_in(second if isinstance(second, listed) else at_hand(second))
    rows = (tuple, Mapping, Path, Sequences)
    if not cells or any(isinstance(each, rows) for each in cells) or any(map(tagged, cells)):
        return False
    return len(cells) == len(first)


def is_tabular(thing: Any) -> bool:
    """Whether a thing is a frame or a column of one, as its library has it."""
    if isinstance(thing, (str, bytes, tuple, Mapping, Iterator, Sequences, os.PathLike)):
        return False
    found = at_hand(thing)
    return is_frame(found) or is_column(found)


def len_of(thing: Any) -> int:
    """How many sequences a thing has."""
    return (
        len(at_hand(next(iter(thing.values()), ()))) if isinstance(thing, Mapping) else len(thing)
    )


def of_both(sequences: Any, said: Any, asked: Asked) -> dict[str, Field]:
    """Sequences, and what is said of each."""
    first, second = PAIRS[asked.wants]
    if asked.wants == "tags" and one_sentence(sequences, said):
        sequences, said = [cells_in(sequences)], [cells_in(said)]
    if asked.wants == "pair":
        return {
            first: main_of(cells_in(sequences), asked)[1],
            second: main_of(cells_in(said), asked)[1],
        }
    found = field_of_cells(second, said, not asked.gaps, True)
    assert found is not None
    fields = read_in(sequences, asked)
    return {name: column for name, column in fields.items() if name != second} | {second: found}


def one_sentence(words: Any, tags: Any) -> bool:
    """Whether two lists are the words of one sentence and their tags, and not sentences."""
    several = [*cells_in(words), *cells_in(tags)]
    return bool(several) and all(isinstance(x, str) and len(x.split()) == 1 for x in several)


def read_in(sequences: Any, asked: Asked) -> dict[str, Field]:
    """The sequences of (X, y); a number by itself is a sequence of one."""
    alone = None if is_frame(sequences) else numbers_in_cells(sequences)
    if alone is not None and alone.ndim == 1:
        return {"values": Field.of_numbers(alone[:, None])}
    if isinstance(sequences, (list, tuple)):
        return dict([main_of([at_hand(each) for each in sequences], asked)])
    return fields_of(
        sequences, Asked(asked.wants, None, None, asked.field, asked.gaps, asked.notes)
    )


def cells_in(thing: Any) -> list[Any]:
    """The items of a list, an array or a column; of a frame none."""
    if isinstance(thing, (list, tuple)):
        return list(thing)
    if isinstance(thing, np.ndarray):
        return thing.tolist()
    return thing.to_list() if is_column(thing) else []


def main_of(items: list[Any], asked: Asked) -> tuple[str, Field]:
    """Sequences, each a text, tokens or numbers, and what such a field is called."""
    if any(is_frame(each) for each in items):
        raise not_understood(items, asked, "several frames are not read together")
    items = [each.to_list() if is_column(each) else each for each in items]
    kind, column = field_in(items, asked.gaps, f"Give {FORMS[asked.wants]}")
    return READ[(TEXT, SYMBOLS, NUMBERS).index(kind)], column


def of_several(items: list[Any], asked: Asked) -> dict[str, Field]:
    """Several series, each an array, a list or a Series of numbers; or refused."""
    tables = []
    for place, each in enumerate(items):
        numbers = each if is_column(each) else numbers_in_cells(each)
        if numbers is None:
            raise not_understood(items, asked, "these are no numbers over time")
        table = of_column(each, asked) if is_column(each) else over_time(np.asarray(numbers), asked)
        table = table if not is_column(each) else named_alike(table)
        many = len(next(iter(table.values())))
        tables.append({"series": number_field(np.full(many, place))} | table)
    if not tables:
        raise not_understood(items, asked)
    if any(table.keys() != tables[0].keys() for table in tables):
        raise not_understood(
            items, asked, "some of these series have times or channels, others not"
        )
    return {name: end_to_end([table[name] for table in tables]) for name in tables[0]}


def named_alike(table: dict[str, Field]) -> dict[str, Field]:
    """The table of one Series, whose numbers may have any name."""
    *times, value = table.items()
    return dict(times) | {"value": value[1]}


def end_to_end(columns: list[Field]) -> Field:
    """The cells of several columns, one after another."""
    if columns[0].kind == NUMBERS:
        return number_field(np.concatenate([column.flat for column in columns]))
    return Field.of_text(str(column.raw(s)) for column in columns for s in range(len(column)))
