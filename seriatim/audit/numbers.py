"""Sequences of numbers with a label or a value each, as classify and regress read them: how long they
are, whether labels are in balance, and what no model can learn from.

Shapes: S sequences, N rows of all of them, C channels.
"""

from __future__ import annotations

import numpy as np

from seriatim.audit.copies import percent
from seriatim.audit.parts import SHOWN, Finding, finding, frequencies, labels_of, usual_label
from seriatim.data.columns import LABELS
from seriatim.data.headers import VALUES
from seriatim.data.sequences import NUMBERS, Field, Sequences

FEW = 5  # sequences of a class, fewer than which are not learned from


def are_numbers(data: Sequences, label: str | None, field: str | None) -> bool:
    """Whether what is to be learned from is sequences of numbers."""
    if data.is_series or not len(data):
        return False
    column = column_of(data, label, field)
    return column is not None and column.kind == NUMBERS


def of_numbers(data: Sequences, file: str, label: str | None, field: str | None) -> list[Finding]:
    """What was understood, and what is wrong with it."""
    column = column_of(data, label, field)
    assert column is not None
    name, rows = next(key for key, each in data.fields.items() if each is column), column.flat
    table = rows.reshape(len(rows), -1)  # (N, C)
    lengths = column.lengths
    steps = f"{lengths.max():,} step{'s' * int(lengths.max() != 1)}"
    if lengths.min() < lengths.max():
        steps = f"{lengths.min():,} to {steps}, half of them up to {np.median(lengths):,.0f}"
    known = table[np.isfinite(table)]
    channels = f"{table.shape[1]:,} channel{'s' * int(table.shape[1] != 1)}"
    found = [
        finding(
            "note",
            f"sequences of numbers, field {name!r}: {len(data):,} of {steps}, {channels}",
            file,
            got=f"{known.min():.6g} to {known.max():.6g}" if len(known) else "no finite number",
        )
    ]
    return [
        *found,
        *of_target(data, column, file, label),
        *not_learned_from(column, table, file, lines_of(data)),
        *repeated(data, column, file, label),
    ]


def column_of(data: Sequences, label: str | None, field: str | None) -> Field | None:
    """The field of the sequences: the one that is named, or the first that is no label and no value."""
    if field is not None:
        return data.field(field)
    target = target_of(data, label)
    return next((each for key, each in data.fields.items() if key != target), None)


def target_of(data: Sequences, label: str | None) -> str | None:
    """The name of the field of labels, or of values: numbers, one for each sequence."""
    if label is not None or usual_label(data) is not None:
        return label or usual_label(data)
    return next(
        (
            key
            for key, each in data.fields.items()
            if len(data.fields) > 1
            and key in (*VALUES.split(), *LABELS)
            and each.kind == NUMBERS
            and ((each.lengths == 1).all() or is_vectors(key, each))
        ),
        None,
    )


def is_vectors(name: str, column: Field) -> bool:
    """Whether a field holds as many values for each sequence, in lists."""
    alike = len(set(column.lengths.tolist())) == 1 and column.values.ndim == 1
    return name == "value" and alike and column.lengths[0] > 1


def lines_of(data: Sequences) -> np.ndarray:
    """(S,) the line of each sequence in its file or, where it has none, its number."""
    return np.arange(1, len(data) + 1) if data.lines is None else data.lines


def of_target(data: Sequences, column: Field, file: str, label: str | None) -> list[Finding]:
    """The balance of the labels, or how far the values reach."""
    name = target_of(data, label)
    if name is None:
        do = "classify reads them from a field 'label', regress from a field 'value'"
        return [finding("warning", "sequences of numbers without a label or a value", file, do=do)]
    target = data.field(name)
    if target.kind == NUMBERS and is_vectors("value", target):
        columns = target.flat.reshape(len(target), -1).T
        several = [
            of_values(column, f"{name}, place {place}", file, lines_of(data))
            for place, column in enumerate(columns, 1)
        ]
        return [each for found in several for each in found]
    if target.kind == NUMBERS:
        return of_values(target.flat.reshape(-1), name, file, lines_of(data))
    counts = frequencies(labels_of(target))
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    shown = ", ".join(
        f"{key!r} {many:,} ({percent(many / len(data))})" for key, many in ordered[:SHOWN]
    )
    do = "seriatim compare classify FILE tells which model they deserve"
    found = [finding("note", f"{len(counts):,} labels, field {name!r}", file, got=shown, do=do)]
    if len(counts) == 1:
        do = "Name the field of the labels with --label"
        found.append(finding("error", "all sequences have the same label", file, got=shown, do=do))
    few = [f"{key!r} {many}" for key, many in ordered if many < FEW]
    if few:
        what = f"labels with fewer than {FEW} sequences: {len(few):,} of {len(counts):,}"
        do = "Collect more of them, or join them into one"
        found.append(finding("note", what, file, got=", ".join(few[:SHOWN]), do=do))
    return found


def of_values(values: np.ndarray, name: str, file: str, lines: np.ndarray) -> list[Finding]:
    """(S,) what regress is to say: how far it reaches, and what is no number."""
    known = values[np.isfinite(values)]
    found = []
    if len(known) < len(values):
        what = f"values that are not finite numbers, field {name!r}: {len(values) - len(known):,}"
        do = "Leave these sequences out: there is nothing to learn from them"
        found.append(finding("error", what, file, do=do, lines=lines[~np.isfinite(values)]))
    if not len(known):
        return found
    got = f"{known.min():.6g} to {known.max():.6g}, mean {known.mean():.6g}, deviation {known.std():.4g}"
    if known.min() == known.max():
        what = f"all sequences have the same value, field {name!r}"
        return [*found, finding("error", what, file, got=got, do="There is nothing to learn")]
    do = "seriatim compare regress FILE tells which model they deserve"
    return [
        *found,
        finding("note", f"a value for each sequence, field {name!r}", file, got=got, do=do),
    ]


def not_learned_from(
    column: Field, table: np.ndarray, file: str, lines: np.ndarray
) -> list[Finding]:
    """Sequences without steps, numbers that are not finite, and channels that never change."""
    found = []
    empty = column.lengths == 0
    if empty.any():
        what = f"empty sequences: {int(empty.sum()):,} ({percent(float(empty.mean()))})"
        do = "Remove them"
        found.append(finding("warning", what, file, do=do, lines=lines[empty]))
    odd = ~np.isfinite(table)  # (N, C)
    if odd.any():
        owners = np.repeat(np.arange(len(lines)), column.lengths)[odd.any(1)]
        what = f"numbers that are not finite: {int(odd.sum()):,} of {odd.size:,}"
        do = "Fill them, or leave these sequences out"
        found.append(finding("error", what, file, do=do, lines=lines[np.unique(owners)]))
    names = column.names or tuple(map(str, range(1, table.shape[1] + 1)))
    still = [
        names[c]
        for c, each in enumerate(table.T)
        if len(each) > 1 and np.isfinite(each).all() and each.min() == each.max()
    ]
    if still:
        what = f"channels that never change: {len(still):,} of {table.shape[1]:,}"
        found.append(finding("warning", what, file, got=", ".join(still[:SHOWN])))
    return found


def repeated(data: Sequences, column: Field, file: str, label: str | None) -> list[Finding]:
    """Sequences that are there more than once, and those of them with different labels or values."""
    name, lines = target_of(data, label), lines_of(data)
    first: dict[bytes, int] = {}
    again, apart = [], []
    for s in range(len(data)):
        known = first.setdefault(np.ascontiguousarray(column.row(s)).tobytes(), s)
        if known == s:
            continue
        again.append(lines[s])
        if name is not None and not np.array_equal(
            data.field(name).row(s), data.field(name).row(known)
        ):
            apart.append(lines[s])
    found = []
    if again:
        what = f"copies of an earlier sequence: {len(again):,} ({percent(len(again) / len(data))})"
        do = "Keep one of each, or at least all on one side of a split, as `split` does"
        found.append(finding("warning", what, file, do=do, lines=again))
    if apart:
        what = f"equal sequences with another {name}: {len(apart):,}"
        do = "Decide which is right; no model can learn both"
        found.append(finding("warning", what, file, do=do, lines=apart))
    return found
