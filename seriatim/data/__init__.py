"""Data in: files as published, and corpora that need no download."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from seriatim.data.sequences import NUMBERS, TEXT, Field, Sequences
from seriatim.errors import ConfigError, DataError


def read(*paths: str, format: str | None = None, by: str | None = None, unit: str | None = None,
         columns: str | Sequence[str] | None = None, field: str | None = None, label: str | None = None,
         problems: list[DataError] | None = None, notes: list[str] | None = None, gaps: bool = False) -> Sequences:
    """Read a file (or parallel files), standard input ("-"), or open a built-in corpus by its name.

    `by` says whether text is one "stream" or a sequence each "line"; `unit` what counts as a symbol;
    `columns` names the columns of a table without a header, or two of CoNLL-U: "form,xpos"; `field` picks the one to model,
    `label` the one with the labels. `problems`, if given, takes what is wrong with single lines, which are then left out, and `notes`
    what is worth knowing; with `gaps`, what is missing is left as it is: blank lines, labels (empty, or no such field) and numbers (nan).

    >>> data = read("markov:length=1000,seed=3")
    >>> data.by, len(data), round(data.entropy, 3)
    ('stream', 1, 0.957)
    """
    from seriatim.data.corpora import is_corpus, open_corpus
    if len(paths) == 1 and is_corpus(str(paths[0])) and not Path(paths[0]).exists():
        data = open_corpus(str(paths[0]))
        data = replace(data, unit=unit or data.unit)
        if by == "line" and data.by == "stream":
            if data.main.kind != TEXT:
                raise ConfigError("a stream of tokens has no lines", got=paths[0], do="Leave that out, or give by=\"stream\"")
            column = Field.of_text(line for line in str(data.main.raw(0)).splitlines() if line.strip())
            data = Sequences({"text": column}, by="line", unit=data.unit, origin=data.origin)
    else:
        from seriatim.data.readers import read_files
        data = read_files(*paths, format=format, by=by, unit=unit, columns=columns, problems=problems, notes=notes, gaps=gaps)
    data = data.labelled(None if gaps and label not in data.fields else label).only(field)
    kind = data.main_kind()
    return data if data.unit or kind == NUMBERS else replace(data, unit="character" if kind == TEXT else "token")
