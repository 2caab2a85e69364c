"""Parts of the data for fitting, choosing and testing, that never share a sequence.

    order      consecutive parts: the future never leaks into the past; a single stream is cut inside
    shuffle    sequences at random
    stratify   at random, and each label keeps its share in every part

At random, equal sequences stay together: a copy of a training sequence in the test part would be an
answer learned by heart. Inside a part the sequences keep the order of the file.
Shapes: S sequences, G groups of equal sequences.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

import numpy as np

from seriatim.data.sequences import SYMBOLS, TEXT, Sequences
from seriatim.errors import ConfigError, DataError, nearest

MOST_REGIONS = 10  # of a stream, from which its test comes
LEAST_REGION = 50_000  # elements of a stream: fewer are not divided further
GAP = 500  # elements on each side of what is asked that nobody reads

ORDER, SHUFFLE, STRATIFY = WAYS = ("order", "shuffle", "stratify")


def split(
    data: Sequences,
    fractions: Sequence[float],
    how: str | None = None,
    seed: int = 0,
    label: str = "label",
) -> tuple[Sequences, ...]:
    """One part for each fraction of the data; what is left when they sum to less than one belongs to none."""
    fractions = list(fractions)
    if (
        not fractions
        or not all(fraction > 0 for fraction in fractions)
        or sum(fractions) > 1 + 1e-9
    ):
        raise ConfigError(
            "fractions are positive and sum to at most one", got=fractions, do="Try 0.8, 0.1, 0.1"
        )
    how = checked_way(data, how)
    if is_single_stream(data):
        parts = [
            data.part(start, stop) for start, stop in pairwise(cuts(len(data.main.flat), fractions))
        ]
    elif how == ORDER:
        parts = [data[start:stop] for start, stop in pairwise(cuts(len(data), fractions))]
    else:
        chosen = random_parts(data, fractions, how, seed, label)
        parts = [data[chosen == i] for i in range(len(fractions))]
    for i, part in enumerate(parts, 1):
        if not (len(part.main.flat) if is_single_stream(data) else len(part)):
            raise DataError(
                f"part {i} of {len(parts)} would be empty",
                got=f"{size(data)}, fractions {fractions}",
                do="Give more data or larger fractions; at random, equal sequences stay in one part",
            )
    return tuple(parts)


def spread(data: Sequences, fractions: Sequence[float]) -> tuple[Sequences, ...]:
    """Validation, training and test of one long stream, from several regions of it: a single place
    of a text is one chapter, one author, one day. In each region

        | training | gap | validation | test | gap | training |

    where nobody reads the gaps, so that a passage does not go on from what is learned into what is
    asked. What belongs to one part is put end to end. A short stream has one region, with
    the validation first and the test last."""
    length = len(data.main.flat)
    regions = min(MOST_REGIONS, length // LEAST_REGION)
    if regions < 2:
        return split(data, fractions, ORDER)
    valid, _, test = fractions
    places: tuple[list[tuple[int, int]], ...] = ([], [], [])
    begin = 0
    for start, stop in pairwise(cuts(length, [1 / regions] * regions)):
        size = stop - start
        asked = start + (size - int((valid + test) * size)) // 2  # in the middle of the region
        middle, end = asked + int(valid * size), asked + int((valid + test) * size)
        places[1].append((begin, asked - GAP))
        places[0].append((asked, middle))
        places[2].append((middle, end))
        begin = end + GAP
    places[1].append((begin, length))
    return tuple(end_to_end([data.part(*each) for each in several]) for several in places)


def end_to_end(parts: Sequence[Sequences]) -> Sequences:
    """Passages of one stream as one stream."""
    flat = np.concatenate([each.main.flat for each in parts])
    name, column = next(iter(parts[0].fields.items()))  # a part of a stream has no other
    whole = replace(column, values=flat, offsets=np.array([0, len(flat)]))
    return replace(parts[0], fields={name: whole}, lines=None, regions=len(parts))


def passages(data: Sequences, share: float) -> Sequences:
    """About this share of a stream: passages evenly spaced, of little its beginning."""
    length = len(data.main.flat)
    size = int(share * length / MOST_REGIONS)
    if size < GAP or share >= 1:
        return data.part(0, max(1, int(share * length)))
    begins = np.linspace(0, length - size, MOST_REGIONS).astype(int)
    return end_to_end([data.part(begin, begin + size) for begin in begins])


def subset(data: Sequences, share: float, seed: int, label: str = "label") -> Sequences:
    """About this share of the data, another one for each seed: of a stream a passage of each of its
    regions, of little one passage; else sequences at random, in which labels keep their shares."""
    if share >= 1:
        return data
    if not is_single_stream(data):
        known = data.fields.get(label)
        labelled = known is not None and known.kind == SYMBOLS and (known.lengths == 1).all()
        return split(data, [share], STRATIFY if labelled else SHUFFLE, seed, label)[0]
    length, generator = len(data.main.flat), generator_from(seed)
    regions = MOST_REGIONS if share * length >= MOST_REGIONS * GAP else 1
    size = max(1, int(share * length / regions))
    places = np.arange(regions) * (length // regions)
    places += generator.integers(length // regions - size + 1, size=regions)
    return end_to_end([data.part(begin, begin + size) for begin in places.tolist()])


def folds(
    data: Sequences, k: int, seed: int = 0, label: str = "label", how: str | None = None
) -> list[tuple[Sequences, Sequences]]:
    """k pairs (train, test): every sequence is in one test part and in all the other train parts;
    stratified where there are labels and no time."""
    if k < 2:
        raise ConfigError("cross-validation needs at least two folds", got=k, do="Try 5 or 10")
    if is_single_stream(data):
        raise DataError(
            "a single stream has no folds: a model would be fitted on the future of what it is tested on",
            do="Use split, which tests on the end, or read the text by line",
        )
    way = checked_way(data, how)
    if how is None and way == SHUFFLE and label in data.fields:
        way = STRATIFY
    fractions = [1 / k] * k
    if way == ORDER:
        chosen = part_at(np.arange(len(data)), cuts(len(data), fractions))
    else:
        chosen = random_parts(data, fractions, way, seed, label)
    if len(np.unique(chosen)) < k:
        raise DataError(
            f"too few different sequences for {k} folds", got=size(data), do="Use fewer folds"
        )
    return [(data[chosen != i], data[chosen == i]) for i in range(k)]


def checked_way(data: Sequences, how: str | None) -> str:
    """The way to divide: as asked, else in order where time matters and at random elsewhere."""
    if how is None:
        return ORDER if data.by == "stream" or {"date", "time"} & data.fields.keys() else SHUFFLE
    if how not in WAYS:
        raise ConfigError("unknown way to split", got=how, do=nearest(how, WAYS))
    if how != ORDER and is_single_stream(data):
        raise DataError(
            "a single stream can only be split in order",
            got=how,
            do="Read the text by line to shuffle it",
        )
    return how


def is_single_stream(data: Sequences) -> bool:
    """Whether the data is one long sequence, which can only be cut inside."""
    return data.by == "stream" and len(data) == 1


def size(data: Sequences) -> str:
    """How much data there is, in words."""
    return (
        f"a stream of {len(data.main.flat)} elements"
        if is_single_stream(data)
        else f"{len(data)} sequences"
    )


def cuts(total: int, fractions: Sequence[float]) -> list[int]:
    """Where parts begin and end: 10, (0.5, 0.3, 0.2) -> [0, 5, 8, 10]; 0.7 + 0.2 counts as 0.9."""
    return [0, *(min(total, int(total * share + 1e-5)) for share in accumulate(fractions))]


def part_at(places: np.ndarray, borders: Sequence[int]) -> np.ndarray:
    """The part into which each place falls; one past the last part where it falls behind all of them."""
    return np.searchsorted(borders, places, side="right") - 1


def random_parts(
    data: Sequences, fractions: Sequence[float], how: str, seed: int, label: str
) -> np.ndarray:
    """(S,) the part of each sequence.

    Within its label, a group of equal sequences is put at a random place between 0 and 1. All
    groups are then lined up by their place and cut: each label is spread evenly along the line, so
    every part has its share of it.
    """
    group = equal_groups(data)  # (S,)
    _, first, sizes = np.unique(group, return_index=True, return_counts=True)  # (G,) each
    stratum = (
        label_of_each(data, label)[first] if how == STRATIFY else np.zeros(len(first), np.int64)
    )
    generator = generator_from(seed)
    shuffled = generator.permutation(len(first))
    by_stratum = shuffled[np.argsort(stratum[shuffled], kind="stable")]  # (G,) label by label
    ends = np.cumsum(sizes[by_stratum])
    totals = np.bincount(stratum, weights=sizes)  # (labels,) sequences of each
    before = np.cumsum(totals) - totals
    here = stratum[by_stratum]
    place = np.empty(len(first))
    place[by_stratum] = (
        ends - generator.random(len(first)) * sizes[by_stratum] - before[here]
    ) / totals[here]
    line = np.argsort(place, kind="stable")
    middles = np.cumsum(sizes[line]) - sizes[line] / 2
    part = np.empty(len(first), np.int64)
    part[line] = part_at(middles, cuts(len(data), fractions))
    return part[group]


def generator_from(seed: int) -> np.random.Generator:
    """Random numbers of a seed that is none but a whole number from 0 on."""
    if seed < 0:
        raise ConfigError("a seed is not negative", got=seed)
    return np.random.default_rng(seed)


def equal_groups(data: Sequences) -> np.ndarray:
    """(S,) the same number for sequences of equal content, but for blanks around text: of the main
    field, or of all where all are one number each."""
    columns = list(data.fields.values()) if data.main_name() is None else [data.main]
    number: dict[bytes, int] = {}
    group = np.empty(len(data), np.int64)
    for s in range(len(data)):
        content = hashlib.blake2b(digest_size=16)
        for column in columns:
            row = column.row(s).tobytes()
            content.update(row.strip() if column.kind == TEXT else row)
        group[s] = number.setdefault(content.digest(), len(number))
    return group


def label_of_each(data: Sequences, label: str) -> np.ndarray:
    """(S,) the number of each sequence's label."""
    column = data.field(label)
    if column.kind != SYMBOLS or not (column.lengths == 1).all():
        raise DataError(
            f"field {label!r} does not hold one label for each sequence",
            file=data.origin,
            do="Stratify by a field with one symbol a sequence",
        )
    return column.flat
