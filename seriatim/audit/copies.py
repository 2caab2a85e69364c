"""Copies: sequences that come again in a file, with another label, or in a file that should be new.

A copy has the same words in the same order, whatever blanks between; a near copy differs in case
and in numbers. Equal sequences have equal group numbers, so that every question below is a count of
numbers. Empty ones are no copies.
Shapes: S sequences of a file, G groups over all files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seriatim.audit.parts import SHOWN, Finding, Split, finding, groups

EXAMPLES = 5


# share of the words of a test that are known from training: what is measured is memory
SPOILED = 0.05


class Copies:
    """The groups of all files."""

    def __init__(self, parts: Sequence[Split], near: bool = True):
        self.parts = parts
        self.exact = groups([part.words for part in parts])  # (S,) each
        self.near = groups([part.near for part in parts]) if near else self.exact
        self.labels = shared_labels(parts)  # (S,) each, or None
        self.kept = [~part.empty for part in parts]  # (S,) each

    def within(self, place: int) -> tuple[dict[str, Any], list[Finding]]:
        """What comes again in one file: the figures, and what is to be said about them."""
        part, kept = self.parts[place], self.kept[place]
        exact, near = self.exact[place][kept], self.near[place][kept]
        different, loose = (int(np.count_nonzero(np.bincount(group))) for group in (exact, near))
        examples = [
            self.example(place, rows) for rows in largest(np.where(kept, self.exact[place], -1))
        ]
        nearly = [
            self.example(place, rows)
            for rows in largest(np.where(kept, self.near[place], -1), self.exact[place])
        ]
        record: dict[str, Any] = {
            "different": different,
            "copies": len(exact) - different,
            "share": share(len(exact) - different, len(part)),
            "examples": examples,
            "near_copies": different - loose,
            "near_share": share(different - loose, len(part)),
            "near_examples": nearly,
        }
        again = record["copies"] + int((np.bincount(exact) > 1).sum())
        nearly_again = record["near_copies"] + len(torn(near, exact))
        said = copied(part, record, again, nearly_again)
        return record, [*said, *self.contradicting(place)]

    def contradicting(self, place: int) -> list[Finding]:
        """Equal sequences with different labels, or tagged differently."""
        part, labels = self.parts[place], self.labels[place]
        if labels is None:
            return []
        rows = np.flatnonzero(self.kept[place])
        rows = rows[np.isin(self.exact[place][rows], torn(self.exact[place][rows], labels[rows]))]
        if not len(rows):
            return []
        same = rows[self.exact[place][rows] == self.exact[place][rows[0]]]
        other = same[labels[same] != labels[same[0]]][0]
        return [
            finding(
                "warning",
                f"equal sequences with different {answers(part)}: {len(rows):,}",
                part.file,
                got=f"{part.text(rows[0])!r}: {difference(part, same[0], other)}",
                lines=part.lines[same],
                places=len(rows),
                do="Decide which is right; no model can learn both",
            )
        ]

    def across(self, earlier: int, later: int) -> tuple[dict[str, Any], list[Finding]]:
        """What of a later file is in an earlier one already."""
        part, other, kept = self.parts[later], self.parts[earlier], self.kept[later]
        known = kept & np.isin(self.exact[later], self.exact[earlier])  # (S,)
        nearly = kept & np.isin(self.near[later], self.near[earlier])
        sizes = part.words.lengths  # (S,)
        record: dict[str, Any] = {
            "file": part.name,
            "other": other.name,
            "copies": int(known.sum()),
            "share": share(known.sum(), len(part)),
            "near_copies": int((nearly & ~known).sum()),
            "words_share": share(sizes[known].sum(), sizes.sum()),
            "contradicting": 0,
            "examples": self.pairs(earlier, later, known),
        }
        if not record["copies"] + record["near_copies"]:
            return record, []
        found = [seen(part, other, record, known if known.any() else nearly)]
        return record, found + self.contradicting_across(earlier, later, known, record)

    def contradicting_across(
        self, earlier: int, later: int, known: np.ndarray, record: dict[str, Any]
    ) -> list[Finding]:
        """Copies from another file that have another label here; the record counts them."""
        ours, theirs = self.labels[later], self.labels[earlier]
        if ours is None or theirs is None:
            return []
        base = 1 + max(ours.max(initial=0), theirs.max(initial=0))
        wrong = np.flatnonzero(
            known & ~np.isin(self.exact[later] * base + ours, self.exact[earlier] * base + theirs)
        )
        record["contradicting"] = len(wrong)
        part, other = self.parts[later], self.parts[earlier]
        return (
            []
            if not len(wrong)
            else [
                finding(
                    "warning",
                    f"sequences that are in {other.name} with different {answers(part)}:"
                    f" {len(wrong):,}",
                    part.file,
                    got=repr(part.text(wrong[0])),
                    lines=part.lines[wrong],
                    do="Decide which is right",
                )
            ]
        )

    def example(self, place: int, rows: np.ndarray) -> dict[str, Any]:
        """Rows that are equal, or nearly: their texts, how many they are, and their lines."""
        part = self.parts[place]
        texts = list(dict.fromkeys(part.text(s) for s in rows[:SHOWN]))
        return {
            "texts": texts,
            "times": len(rows),
            "lines": [int(line) for line in part.lines[rows[:SHOWN]]],
        }

    def pairs(self, earlier: int, later: int, known: np.ndarray) -> list[dict[str, Any]]:
        """The longest sequences that are in both files, with their lines in each."""
        part, other = self.parts[later], self.parts[earlier]
        rows = np.flatnonzero(known)
        rows = rows[np.argsort(-part.words.lengths[rows], kind="stable")]
        _, first = np.unique(self.exact[later][rows], return_index=True)
        return [
            {
                "text": part.text(s),
                "lines": [int(part.lines[s])],
                "other_lines": [
                    int(line)
                    for line in other.lines[self.exact[earlier] == self.exact[later][s]][:SHOWN]
                ],
            }
            for s in rows[np.sort(first)][:EXAMPLES]
        ]


def copied(part: Split, record: dict[str, Any], again: int, nearly_again: int) -> list[Finding]:
    """What is to be said of copies and of near copies in one file: where those stand that come most
    often, of so many that come again."""
    found = []
    if record["copies"]:
        example = record["examples"][0]
        found.append(
            finding(
                "warning" if record["share"] >= 0.01 else "note",
                f"copies of an earlier sequence: {record['copies']:,} ({percent(record['share'])})",
                part.file,
                got=f"{example['texts'][0]!r}, {example['times']:,} times;"
                f" {record['different']:,} different sequences",
                lines=example["lines"],
                places=again,
                do="Keep one of each, or at least all on one side of a split, as `split` does;"
                " what is told often is learned by heart",
            )
        )
    if record["near_copies"]:
        example = record["near_examples"][0]
        found.append(
            finding(
                "note",
                f"near copies, different in case or numbers only: {record['near_copies']:,}"
                f" ({percent(record['near_share'])})",
                part.file,
                got=" / ".join(map(repr, example["texts"][:2])),
                lines=example["lines"],
                places=nearly_again,
                do="Look whether they were made from one pattern,"
                " and keep such a pattern on one side of a split",
            )
        )
    return found


def seen(part: Split, other: Split, record: dict[str, Any], rows: np.ndarray) -> Finding:
    """What is to be said of a file of which rows are in another."""
    copies, nearly = record["copies"], record["near_copies"]
    loosely = f", and {nearly:,} that differ in case or numbers only" if nearly else ""
    examples = (
        f", for instance {example['text']!r}, there in line {example['other_lines'][0]}"
        for example in record["examples"][:1]
    )
    severity = "warning" if copies else "note"
    return finding(
        "error" if record["words_share"] >= SPOILED else severity,
        f"sequences that are in {other.name} too: {copies:,} ({percent(record['share'])}){loosely}",
        part.file,
        got=f"{percent(record['words_share'])} of its words" + "".join(examples),
        lines=part.lines[rows],
        do="Leave them out of one of the two: an answer learned by heart is no measurement",
    )


def answers(part: Split) -> str:
    """What its sequences are told to be: labels, or tags."""
    return "tags" if part.label is None else "labels"


def shared_labels(parts: Sequence[Split]) -> list[np.ndarray | None]:
    """(S,) for each file: the number of each sequence's label or, for tagged ones, of all its tags;
    the same in all files."""
    columns = [part.tags if part.label is None else part.label for part in parts]
    numbers = iter(groups([column for column in columns if column is not None]))
    return [None if column is None else next(numbers) for column in columns]


def largest(group: np.ndarray, kinds: np.ndarray | None = None) -> list[np.ndarray]:
    """The rows of the groups with the most rows, at least two, or of the most kinds; group -1 does
    not count."""
    if kinds is not None:
        # one row of each kind
        _, first = np.unique(group * (1 + kinds.max(initial=0)) + kinds, return_index=True)
        only = np.full(len(group), -1)
        only[first] = group[first]
        group = only
    counts = np.bincount(group + 1)[1:]
    best = np.argsort(-counts, kind="stable")[:EXAMPLES]
    return [np.flatnonzero(group == g) for g in best if counts[g] > 1]


def torn(group: np.ndarray, label: np.ndarray) -> np.ndarray:
    """The groups with more than one label."""
    base = 1 + label.max(initial=0)
    found, counts = np.unique(np.unique(group * base + label) // base, return_counts=True)
    return found[counts > 1]


def difference(part: Split, one: int, other: int) -> str:
    """What two equal sequences are told to be; of tagged ones the first word on which they
    differ."""
    if part.label is not None:
        return f"{part.label.raw(one)[0]} and {part.label.raw(other)[0]}"
    if part.tags is None:
        return "nothing"
    pairs = zip(part.column.raw(one), part.tags.raw(one), part.tags.raw(other))
    return next(
        (f"{word!r} is {tag} and {second}" for word, tag, second in pairs if tag != second),
        "different numbers of tags",
    )


def share(some: float | np.integer, all: float | np.integer) -> float:
    """Some / all; 0 of nothing."""
    return float(some / all) if all else 0.0


def percent(value: float) -> str:
    """A share as a person reads it."""
    return f"{100 * value:.1f} %" if value >= 0.0005 or not value else "under 0.1 %"
