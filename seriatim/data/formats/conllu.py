"""Tagged documents without loss: read, given other tags, and written again with every other byte as it was.

    document = read_document("dev.conllu")
    document.with_column("upos", rows).write("tagged.conllu")

Comments, ranges of words (7-8), empty nodes (7.1), blank lines, blanks at the end of a line, the kind of line
ending, a byte order mark and a missing last newline all stay. So do the blanks between two columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from seriatim.data.files import add_notes, bare_ending, one_line_ending, packed, unified
from seriatim.data.formats import FORMATS
from seriatim.data.formats.delimited import column_names
from seriatim.data.formats.tagged import DOCUMENT, LAYOUTS, Layout
from seriatim.data.sequences import Field, Table
from seriatim.errors import ConfigError, DataError, keep, nearest

MARK = "\ufeff"  # byte order mark


def read_conllu(
    path: str,
    columns: str | Sequence[str] | None = None,
    problems: list[DataError] | None = None,
    encoding: str = "",
    notes: list[str] | None = None,
) -> Table:
    """The words of each sentence, and their universal tags or what else two `columns` are named;
    further ones are fields of their own names."""
    names = None if columns is None else column_names(columns, ConfigError)
    if names is not None and len(names) < 2:
        raise ConfigError(
            "of CoNLL-U two columns are read, tokens and tags, or more",
            got=", ".join(names),
            do="Write for instance form,xpos",
        )
    for name in names or ():
        if name not in LAYOUTS["conllu"].place:
            raise ConfigError(
                "unknown column of CoNLL-U", got=name, do=nearest(name, LAYOUTS["conllu"].place)
            )
    return read_document(path, "conllu", problems, encoding, notes).fields(names)


def read_columns(
    path: str,
    problems: list[DataError] | None = None,
    encoding: str = "",
    notes: list[str] | None = None,
) -> Table:
    """The first column of each sentence, the words, and the last, their tags."""
    document = read_document(path, "columns", problems, encoding, notes)
    marks = sum(line.startswith(DOCUMENT) for line in document.lines)
    add_notes(notes, path, [f"{marks:,} lines {DOCUMENT} are left out"] if marks else [])
    return document.fields()


@dataclass(frozen=True, eq=False)
class Document:
    """All lines of a file, and which of them are the words of each sentence."""

    lines: list[str]  # as they are, with their endings
    sentences: list[list[int]]  # the places in `lines` of the words of each
    layout: Layout
    origin: str = "memory"
    mark: str = ""  # what stood before the first line

    def column(self, name: str) -> list[list[str]]:
        """What each word of each sentence has in a column.

        These are form, lemma, upos, xpos, feats, head, deprel, deps and misc; or form and tag.
        """
        place = self.place(name)
        rows = [[self.cells(number)[place] for number in sentence] for sentence in self.sentences]
        for sentence, row in zip(self.sentences, rows):
            if "" in row:
                number = sentence[row.index("")]
                raise DataError(
                    f"the column {name!r} of this word is empty",
                    got=self.lines[number],
                    file=self.origin,
                    line=number + 1,
                    do="Write _ for what is not known",
                )
        return rows

    def with_column(self, name: str, rows: Sequence[Sequence[str]]) -> Document:
        """The same document with other values in a column, one for each word of each sentence."""
        place, lines = self.place(name), list(self.lines)
        given, asked = list(map(len, rows)), list(map(len, self.sentences))
        if given != asked:
            wrong = next(
                (s for s, (one, other) in enumerate(zip(given, asked)) if one != other),
                min(len(given), len(asked)),
            )
            raise DataError(
                "each word of each sentence needs one value",
                file=self.origin,
                do=f"See sentence {wrong + 1}",
                got=f"{len(given):,} rows, {sum(given):,} values for"
                f" {len(asked):,} sentences, {sum(asked):,} words",
            )
        for sentence, row in zip(self.sentences, rows):
            for number, value in zip(sentence, row):
                lines[number] = self.replaced(number, place, value)
        return replace(self, lines=lines)

    def write(self, path: str | Path) -> None:
        """Write all of it, or nothing; packed if the path ends with .gz or .xz."""
        with packed(Path(path)) as file:
            file.write((self.mark + "".join(self.lines)).encode())

    def place(self, name: str) -> int:
        """Where a column stands among the cells of a word."""
        if name not in self.layout.place:
            raise ConfigError("unknown column", got=name, do=nearest(name, self.layout.place))
        return self.layout.place[name]

    def cells(self, number: int) -> list[str]:
        """The cells of the word in a line."""
        cells = self.layout.cells(body(self.lines[number]))
        if cells is None:
            raise ValueError(f"line {number + 1} is no word")
        return cells

    def replaced(self, number: int, place: int, value: str) -> str:
        """The line with another value in one cell, if the value comes back from there."""
        line, cells = body(self.lines[number]), self.cells(number)
        cells[place] = value
        made = self.layout.joint.join(cells)
        try:
            sound = (
                value.encode()
                and not {"\n", "\r"} & set(value)
                and self.layout.cells(made) == cells
            )
        except ValueError:  # half of a surrogate pair is one too
            sound = False
        if not sound:
            raise DataError(
                "this value cannot stand in a column",
                got=repr(value),
                file=self.origin,
                line=number + 1,
                do="Write _ for nothing, and another sign in place of tabs, newlines and blanks"
                " between columns",
            )
        return made + self.lines[number][len(line) :]

    def fields(self, columns: Sequence[str] | None = None) -> tuple[dict[str, Field], np.ndarray]:
        """Two columns as the fields `tokens` and `tags`, further ones by their names, and the line of
        the first word of each sentence."""
        columns = columns or self.layout.pair
        names = ["tokens", "tags", *columns[2:]]
        first = np.array([sentence[0] + 1 for sentence in self.sentences], np.int64)
        fields = {
            name: Field.of_symbols(self.column(column))
            for name, column in zip(names, columns, strict=True)
        }
        return fields, first


def body(line: str) -> str:
    """A line without its ending."""
    return line.removesuffix("\n").removesuffix("\r")


def read_document(
    path: str | Path,
    format: str | None = None,
    problems: list[DataError] | None = None,
    encoding: str = "",
    notes: list[str] | None = None,
) -> Document:
    """A CoNLL-U file, or one of two or more columns; the ending tells unless the format is named."""
    path = str(path)
    format = format or ("columns" if bare_ending(path) in FORMATS["columns"].endings else "conllu")
    if format not in LAYOUTS:
        raise ConfigError(
            "unknown format of tagged sentences", got=format, do=nearest(format, LAYOUTS)
        )
    content, marked = unified(path, encoding, notes)
    plain, words = one_line_ending(content)
    add_notes(notes, path, [*(["a byte order mark is left out"] if marked else []), *words])
    if b"\n" not in content:
        content = plain  # lines that end with \r alone would be a single one
    return parse_document(MARK * marked + content.decode(), format, path, problems)


def parse_document(
    text: str,
    format: str = "conllu",
    origin: str = "memory",
    problems: list[DataError] | None = None,
) -> Document:
    """The same from memory. With a list of problems, lines that are wrong go there.

    They are kept as they are, but are no words.
    """
    lines = [line + "\n" for line in text.removeprefix(MARK).split("\n")]
    lines[-1] = lines[-1].removesuffix("\n")  # nothing follows the last newline
    layout, inside = LAYOUTS[format], False
    sentences: list[list[int]] = []
    for number, line in enumerate(lines):
        if not line.strip():
            inside = False
            continue
        try:
            word = layout.cells(body(line)) is not None
        except ValueError as error:
            keep(DataError(str(error), got=body(line), file=origin, line=number + 1), problems)
            continue
        if word and not inside:
            sentences.append([])
        if word:
            sentences[-1].append(number)
        inside = inside or word
    return Document(lines, sentences, layout, origin, MARK if text.startswith(MARK) else "")
