"""The auditor: what is wrong with data, before a model is fitted to it and a figure believed.

    check(["train.tsv", "dev.tsv", "test.tsv"])        everything, a second for fifty thousand lines
    findings(train, valid)                             what a fit warns of

Several files are parts of one data set, the first the one that is learned from. Nothing is changed,
and what is wrong with a line does not end the check: it is a finding like the others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from seriatim.audit import hints
from seriatim.audit.copies import Copies, percent, share
from seriatim.audit.numbers import FEW, are_numbers, of_numbers
from seriatim.audit.parts import (
    SHOWN,
    STEP,
    Finding,
    Split,
    finding,
    frequencies,
    names_in,
    part_of,
    statistics,
)
from seriatim.audit.series import of_series, over_time
from seriatim.data import read
from seriatim.data.corpora.table import is_corpus
from seriatim.data.objects import at_hand, files_in
from seriatim.data.sequences import Sequences
from seriatim.errors import ConfigError, DataError
from seriatim.progress import note

SEVERITIES = ("error", "warning", "note")


MANY_UNKNOWN = 0.2  # share of symbols that the first file does not have


def check(
    files: Sequence[Any],
    names: Sequence[str] | None = None,
    label: str | None = None,
    unit: str | None = None,
    field: str | None = None,
    input_format: str | None = None,
    columns: str | None = None,
    by: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
) -> dict[str, Any]:
    """The record of an audit: figures of each file, what files share, and the findings, the worst
    first. Text is read by line.

    >>> record = check(["python-lines:lines=500", "python-lines:lines=500,seed=1"])
    >>> record["files"][0]["sequences"], record["across"][0]["copies"] > 0
    (500, True)
    """
    if not files:
        raise ConfigError("no file was named", do="Give at least one path")
    options: Any = {"label": label, "field": field, "columns": columns, "by": by}
    files = [one_source(each, options) for each in files]
    names = list(names or names_of(files))
    if len(names) != len(files):
        raise ConfigError(
            "each file needs a name", got=f"{len(names)} names for {len(files)} files"
        )
    parts, found = [], []
    for each, name in zip(files, names):
        part, problems = opened(
            each, name, label, unit, field, input_format, columns, by, encoding, decimal
        )
        parts += [part] if part else []
        found += problems
    copies = Copies(parts)
    records = [statistics(part) | {"unknown": None} for part in parts]
    for place, (part, record) in enumerate(zip(parts, records)):
        record["duplicates"], said = copies.within(place)
        found += [
            *empty(part),
            *said,
            *hints.characters(part),
            *hints.far_longer(part),
            *unequal(part),
            *hints.sets(part),
        ]
    for part, record in zip(parts[1:], records[1:]):
        record["unknown"], said = unknown(part, parts[0])
        found += said + strangers(part, parts[0])
    across, said = shared(copies)
    found += said + [each for part in parts[:1] for each in [*hints.leaks(part), *rare(part)]]
    return {
        "kind": "audit",
        "version": 1,
        "files": records,
        "across": across,
        "findings": worst_first(found),
    }


def findings(
    train: Sequences, valid: Sequences | None = None, label: str | None = None
) -> list[Finding]:
    """The cheap part, for a fit to warn with: empty sequences, contradictions, copies across,
    labels not learned; nothing for streams and numbers."""
    try:
        parts = [
            part_of(data, name, name, label=label)
            for data, name in ((train, "training data"), (valid, "validation data"))
            if data and data.by == "line"
        ]
    except DataError:
        return []
    copies = Copies(parts, near=False)
    found = [
        each
        for place, part in enumerate(parts)
        for each in [*empty(part), *copies.contradicting(place)]
    ]
    return worst_first(
        found
        + shared(copies)[1]
        + [each for part in parts[1:] for each in strangers(part, parts[0])]
    )


def worst_first(found: list[Finding]) -> list[Finding]:
    """Errors, then warnings, then notes."""
    return sorted(found, key=lambda each: SEVERITIES.index(each["severity"]))


# From a path to a part


def one_source(source: Any, options: dict[str, Any]) -> str | Sequences:
    """A file by its name, or what is in memory as Sequences."""
    source = at_hand(source)
    if isinstance(source, Sequences):
        return source
    name = isinstance(source, str) and not any(letter.isspace() for letter in source)
    files = [source] if name else files_in(source)  # one that is not there is a finding
    if files is not None and len(files) == 1:
        return files[0]
    if files is not None:
        raise ConfigError(
            "each part is one file", got=", ".join(files), do="Give them apart: check(a, b)"
        )
    thing = [source] if isinstance(source, str) else source
    return read(thing, wants="label", gaps=True, **options)


def names_of(files: Sequence[str | Path | Sequences]) -> list[str]:
    """What tells the names of the files apart: train, dev and test of x-train.tsv, x-dev.tsv and
    x-test.tsv; or their paths; or numbers."""
    paths = [each.origin if isinstance(each, Sequences) else str(each) for each in files]
    short = [path if is_corpus(path) else Path(path).name for path in paths]
    pieces = [re.split(r"([-._])", name) for name in short]
    while alike(pieces, -1):
        pieces = [each[:-2] for each in pieces]
    while alike(pieces, 0):
        pieces = [each[2:] for each in pieces]
    names = ["".join(each) for each in pieces]
    return next(
        (some for some in (names, paths) if len({*some} - {""}) == len(files)),
        [f"{path} ({place})" for place, path in enumerate(paths, 1)],
    )


def alike(pieces: list[list[str]], place: int) -> bool:
    """Whether several names, cut into pieces, have the same piece at a place, and others besides."""
    several = len(pieces) > 1 and all(len(each) > 1 for each in pieces)
    return several and len({each[place] for each in pieces}) == 1


def opened(
    source: str | Path | Sequences,
    name: str,
    label: str | None,
    unit: str | None,
    field: str | None,
    format: str | None,
    columns: str | None,
    by: str | None,
    encoding: str | None,
    decimal: str | None,
) -> tuple[Split | None, list[Finding]]:
    """A file ready to be looked at, and what was wrong with its lines; no part if it cannot be read
    at all."""
    problems: list[DataError] = []
    notes: list[str] = []
    try:
        if isinstance(source, Sequences):
            if are_numbers(source, label, field):
                return None, of_numbers(source, name, label, field)
            return part_of(source, name, name, field, label, unit), []
        data = read(
            str(source),
            input_format=format,
            by=by or (None if is_corpus(str(source)) else "line"),
            columns=columns,
            encoding=encoding,
            decimal=decimal,
            problems=problems,
            notes=notes,
        )
        note(data.told, "read")
        said = told(problems, str(source)) + [
            finding("note", each.removeprefix(f"{source}: "), str(source)) for each in notes
        ]
        if not (label or field or unit) and (series := over_time(data)) is not None:
            return None, said + of_series(series, str(source))
        if are_numbers(data, label, field):
            return None, said + of_numbers(data, str(source), label, field)
        part = part_of(data, name, str(source), field, label, unit)
        ends = [] if data.lines is None else hints.line_ends(str(source))
        return part, said + ends + hints.columns(part)
    except DataError as error:
        with suppress(DataError):  # a gap in a series is no missing label
            series = over_time(read(str(source), gaps=True, encoding=encoding, decimal=decimal))
            if series is not None and not (label or field or unit):
                return None, of_series(series, str(source))
        return None, told(
            [*problems, error], name if isinstance(source, Sequences) else str(source)
        )


def told(problems: list[DataError], file: str) -> list[Finding]:
    """Errors as findings; those that say the same are one."""
    same: dict[tuple[str, str], list[DataError]] = {}
    for problem in problems:
        same.setdefault((problem.what, problem.do), []).append(problem)
    return [
        finding(
            "error",
            what + (f", {len(some):,} times" if len(some) > 1 else ""),
            file,
            got=some[0].got or "",
            do=do,
            lines=[each.line for each in some if each.line],
        )
        for (what, do), some in same.items()
    ]


# What is looked at besides


def empty(part: Split) -> list[Finding]:
    """Sequences in which there is nothing."""
    rows = np.flatnonzero(part.empty)
    return (
        []
        if not len(rows)
        else [
            finding(
                "warning",
                f"empty sequences: {len(rows):,}",
                part.file,
                lines=part.lines[rows],
                do="Leave them out: there is nothing to learn from",
            )
        ]
    )


def unequal(part: Split) -> list[Finding]:
    """Tokens and tags that do not belong together."""
    if part.tags is None:
        return []
    rows = np.flatnonzero(part.tags.lengths != part.column.lengths)
    return (
        []
        if not len(rows)
        else [
            finding(
                "error",
                f"sequences with more tokens than tags, or fewer: {len(rows):,}",
                part.file,
                lines=part.lines[rows],
                got=f"{part.column.lengths[rows[0]]} tokens, {part.tags.lengths[rows[0]]} tags",
                do="Give each token one tag",
            )
        ]
    )


def unknown(part: Split, first: Split) -> tuple[dict[str, float], list[Finding]]:
    """How much of a file the first one does not know: the share of its symbols, and of its
    different ones."""
    # a part of a file may have names that do not occur in it
    known, symbols = frequencies(first.elements), part.elements
    names = names_in(symbols)
    counts = np.bincount(symbols.flat, minlength=len(names))  # (V,)
    strange = np.array([name not in known for name in names], np.bool_)
    record = {
        "tokens": share(counts[strange].sum(), counts.sum()),
        "types": share(np.count_nonzero(counts[strange]), np.count_nonzero(counts)),
    }
    if record["tokens"] < MANY_UNKNOWN:
        return record, []
    frequent = np.argsort(np.where(strange, -counts, 0), kind="stable")[:SHOWN]
    of_sets = part.unit == STEP
    return record, [
        finding(
            "warning",
            f"{'element' if of_sets else part.unit}s that {first.name} does not have:"
            f" {percent(record['tokens'])}",
            part.file,
            got=", ".join(repr(names[i]) for i in frequent if strange[i]),
            do="Look whether both are of one kind"
            + ("" if of_sets else "; model characters or subwords, of which fewer are unknown"),
        )
    ]


def strangers(part: Split, first: Split) -> list[Finding]:
    """Labels or tags that the first file does not have."""
    pairs = (("labels", part.label, first.label), ("tags", part.tags, first.tags))
    found = []
    for kind, ours, theirs in pairs:
        if ours is None or theirs is None:
            continue
        known = frequencies(theirs)
        new = {name: count for name, count in frequencies(ours).items() if name not in known}
        if new:
            wrong = np.array([name in new for name in names_in(ours)])[ours.flat]
            rows = np.unique(np.repeat(np.arange(len(part)), ours.lengths)[wrong])
            found.append(
                finding(
                    "warning",
                    f"{kind} that {first.name} does not have: {len(new):,}",
                    part.file,
                    lines=part.lines[rows],
                    got=", ".join(
                        f"{name!r} {count:,}" for name, count in list(new.items())[:SHOWN]
                    ),
                    do=f"Correct the spelling, or put examples of it into {first.name}:"
                    " what was never seen is never predicted",
                )
            )
    return found


def rare(part: Split) -> list[Finding]:
    """Classes without contrast, or without examples."""
    if part.label is None:
        return []
    counts = frequencies(part.label)
    if len(counts) == 1:
        return [
            finding(
                "error",
                "all sequences have the same label",
                part.file,
                got=repr(next(iter(counts))),
                do="Name the field of the labels with --label",
            )
        ]
    few = [f"{name!r} {count}" for name, count in counts.items() if count < FEW]
    return (
        []
        if not few
        else [
            finding(
                "note",
                f"labels with fewer than {FEW} sequences: {len(few):,} of {len(counts):,}",
                part.file,
                got=", ".join(few[:SHOWN]),
                do="Collect more of them, or join them into one",
            )
        ]
    )


def shared(copies: Copies) -> tuple[list[dict[str, Any]], list[Finding]]:
    """What each file shares with each before it."""
    records, found = [], []
    for later in range(len(copies.parts)):
        for earlier in range(later):
            record, said = copies.across(earlier, later)
            records.append(record)
            found += said
    return records, found
