"""FASTA: genes, genomes and proteins, a record each, letter by letter.

    >chr1 the first one        a header: its first word is the field `id`
    ACGTNacgt                  lines of letters, put end to end; case is kept

A file of one record is one stream, as a text is; several are a sequence each, or, as a stream, a
record a line. Headers are no part of a sequence, nor are comments (";"). (Pearson and Lipman, "Improved tools
for biological sequence comparison", 1988.) Shapes: N bytes, L lines, R records.
"""

from __future__ import annotations

import numpy as np

from seriatim.data.files import add_notes, line_at, utf8
from seriatim.data.sequences import TEXT, Field, Table, offsets_of
from seriatim.errors import DataError

HEADER, COMMENT, QUALITY = ord(">"), ord(";"), ord("@")
LETTERS = np.zeros(256, bool)  # what a sequence is made of: bases, amino acids, gaps, a stop
LETTERS[[*range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1), *b"*-."]] = True
BLANK = np.array([bytes([byte]).isspace() for byte in range(256)])
FEW = 20  # records, of which no share can be held out


def read_fasta(
    path: str,
    by: str = "",
    problems: list[DataError] | None = None,
    encoding: str = "",
    notes: list[str] | None = None,
) -> Table:
    """A file as the fields `text` and `id`, a record each; as a stream, as one text."""
    content = utf8(path, encoding, notes)
    values = np.frombuffer(content, np.uint8)  # (N,)
    starts = np.append(0, np.flatnonzero(values == ord("\n")) + 1)  # (L,)
    starts = starts[starts < len(values)]
    first = values[starts]
    headers = np.flatnonzero(first == HEADER)  # (R,)
    letters = (first != HEADER) & (first != COMMENT)  # (L,)
    body = np.repeat(letters, np.diff(starts, append=len(values))) & ~BLANK[values]  # (N,)
    before = np.append(starts[headers], len(values))
    check_beginning(path, content, body, int(before[0]))
    check_letters(path, content, body)
    many = np.add.reduceat(body, before[:-1], dtype=np.int64)  # (R,) letters of each
    if not many.all():
        refuse_empty(path, headers[many == 0] + 1, problems)
    there = many > 0
    lengths, lines = many[there], headers[there] + 1
    text = Field(values[body], offsets_of(lengths), TEXT)
    if by == "stream":
        return {"text": as_lines(text)}, None
    if not by and 1 < len(text) < FEW:
        what = f"{len(text)} records, a sequence each; --by stream reads them as one text"
        add_notes(notes, path, [what])
    names = [name_of(content, int(place)) for place in before[:-1][there]]
    return {"text": text, "id": Field.of_text(names)}, lines


def check_beginning(path: str, content: bytearray, body: np.ndarray, begin: int) -> None:
    """Nothing stands before the first header; `begin` is its place."""
    early = np.flatnonzero(body[:begin])
    if begin < len(content) and not len(early):
        return
    place = int(early[0]) if len(early) else 0
    got = repr(content[place : place + 30].split(b"\n")[0].decode("utf-8", "replace"))
    if content[place] == QUALITY:
        raise DataError(
            "this is FASTQ, which holds qualities beside sequences, and is not read",
            got=got,
            file=path,
            line=line_at(content, place),
            do="Convert it to FASTA: seqtk seq -a reads.fq > reads.fa",
        )
    raise DataError(
        "a record of FASTA begins with >, and this does not",
        got=got,
        file=path,
        line=line_at(content, place),
        do="Put a line such as >name before it, or read all as text: --input-format text",
    )


def check_letters(path: str, content: bytearray, body: np.ndarray) -> None:
    """Refuse what no sequence is made of."""
    wrong = np.flatnonzero(body & ~LETTERS[np.frombuffer(content, np.uint8)])
    if len(wrong):
        place = int(wrong[0])
        raise DataError(
            "sequences of FASTA are letters, -, . and *",
            got=repr(content[place : place + 12].split(b"\n")[0].decode("utf-8", "replace")),
            file=path,
            line=line_at(content, place),
            do="Correct the line, or read all as text: --input-format text",
        )


def refuse_empty(path: str, lines: np.ndarray, problems: list[DataError] | None) -> None:
    """Records without a sequence are an error, or problems."""
    for line in lines.tolist():
        error = DataError(
            "this record has no sequence", file=path, line=line, do="Leave it out, or fill it in"
        )
        if problems is None:
            raise error
        problems.append(error)


def name_of(content: bytearray, place: int) -> str:
    """The first word of the header that begins at a place; none has no name."""
    stop = content.find(b"\n", place)
    words = content[place + 1 : len(content) if stop < 0 else stop].decode().split(None, 1)
    return words[0] if words else ""


def as_lines(column: Field) -> Field:
    """The sequences as one text, each a line."""
    places = column.offsets[1:-1]  # (R - 1,) before which a line ends
    values = np.insert(column.values, places, ord("\n"))
    return Field(values, offsets_of([len(values)]), TEXT)
