"""Hints: characters that came from a wrong turn, sequences far too long, and whatever gives the
label away.

A value gives the label away when the label can be guessed from it alone: each sequence by the
majority of the others with the same value; an order does, when each can be guessed by the one
before. A word gives one away when nearly all sequences that have it are of one class, and so many
are not by chance:

    n words of a class of share p:   p^n V < 0.001   V different words, each of which had its chance

Shapes: S sequences, N symbols, V different symbols, C classes, M words that are asked about.
"""

from __future__ import annotations

import re

import numpy as np

from seriatim.audit.copies import percent, share
from seriatim.audit.parts import (
    SHOWN,
    STEP,
    Finding,
    Split,
    elements_of,
    finding,
    frequencies,
    groups,
    names_in,
)
from seriatim.codecs.cutting import words_of
from seriatim.data.columns import PAIR
from seriatim.data.files import unpacked
from seriatim.data.headers import LOOKED_AT, why_no_header
from seriatim.data.sequences import NUMBERS, TEXT, Field
from seriatim.tasks.sets.codec import EMPTY

BELOW = "below a header"  # as it is said how a table was read


PURE = 0.99  # share of one class among the sequences with a value that gives it away


OFTEN = 20  # sequences with a word before it is suspected


MOST_CLASSES = 100  # with more, the label is a name rather than a class


FAR = 10  # times the upper quartile of lengths


WESTERN = "".join(bytes([byte]).decode("cp1252", "ignore") for byte in range(0x80, 0xC0)) + "".join(
    map(chr, range(0x80, 0xC0))
)


SUSPICIOUS = (  # what, pattern, what to do; UTF-8 taken for a western code page has its own look
    (
        "the replacement character U+FFFD, which stands for bytes that were lost",
        "\ufffd",
        "Go back to the file it came from; this cannot be repaired",
    ),
    (
        "control characters",
        "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]",
        "Remove them; \\x80 to \\x9f are quotes and dashes of cp1252 that was read as latin1",
    ),
    (
        "UTF-8 that was read as a western code page, such as Ã© for é",
        f"(?:Ã|â€|[ÐÑ](?=.[ÐÑ]))[{re.escape(WESTERN)}]|Â[\x80-\xbf]|ðŸ|ï»¿",
        "Go back to the file it came from, or repair it: text.encode('cp1252').decode('utf-8')",
    ),
)


ODD = np.array([byte >= 0x7F or (byte < 0x20 and byte not in b"\t\n\r") for byte in range(256)])


def columns(part: Split) -> list[Finding]:
    """A first row that may be data, and columns none of which is known for a label."""
    names = list(part.data.fields)
    if part.label is not None or part.tags is not None or len(names) < 2 or set(names) <= PAIR:
        return []
    texts = [column for column in part.data.fields.values() if column.kind == TEXT]
    if len(texts) == len(names) == 2 and BELOW in part.data.told:
        some = [[str(each.raw(s)) for s in range(min(len(each), LOOKED_AT))] for each in texts]
        if why := why_no_header(names, some, wants="pair"):
            return [
                finding(
                    "note",
                    f"the first row may be data, and is read as names of columns: {why}",
                    part.file,
                    do="Pairs are read with it; --columns source,target counts it here, too",
                )
            ]
    return [
        finding(
            "note",
            f"no column is known for a label: {', '.join(names)}",
            part.file,
            do="Name it with --label NAME, if there is one: then contradictions and rare labels "
            "are looked for",
        )
    ]


def characters(part: Split) -> list[Finding]:
    """Suspicious characters, with the lines that have them."""
    found, texts = [], odd_texts(part.column)
    for what, pattern, do in SUSPICIOUS:
        places = {
            s: match.start() for s, text in texts.items() if (match := re.search(pattern, text))
        }
        if places:
            first, place = next(iter(places.items()))
            found.append(
                finding(
                    "warning",
                    f"sequences with {what}: {len(places):,}",
                    part.file,
                    do=do,
                    lines=part.lines[list(places)],
                    got=repr(texts[first][max(0, place - 20) : place + 30]),
                )
            )
    return found


def odd_texts(column: Field) -> dict[int, str]:
    """The sequences with any byte that might be suspicious: not ASCII, or not to be printed."""
    if column.kind == TEXT:
        rows = np.flatnonzero(column.lengths)
        odd = (
            np.logical_or.reduceat(ODD[column.flat], (column.offsets - column.offsets[0])[rows])
            if len(rows)
            else np.zeros(0, bool)
        )
        return {s: str(column.raw(s)) for s in rows[odd].tolist()}
    strange = np.array(
        [not (name.isascii() and name.isprintable()) for name in names_in(column)], np.bool_
    )
    rows = np.unique(np.repeat(np.arange(len(column)), column.lengths)[strange[column.flat]])
    return {s: " ".join(column.raw(s)) for s in rows.tolist()}


def line_ends(path: str) -> list[Finding]:
    """Lines of one file that end in different ways."""
    content = unpacked(path)
    both = content.count(b"\r\n")
    counts = {
        "\\n": content.count(b"\n") - both,
        "\\r\\n": both,
        "\\r": content.count(b"\r") - both,
    }
    if sum(count > 0 for count in counts.values()) < 2:
        return []
    rare = min((end for end in counts if counts[end]), key=lambda end: counts[end])
    pattern = {"\\n": rb"(?<!\r)\n", "\\r\\n": rb"\r\n", "\\r": rb"\r(?!\n)"}[rare]
    place = next(re.finditer(pattern, content)).start()
    return [
        finding(
            "note",
            "lines end in different ways",
            path,
            got=", ".join(f"{counts[end]:,} with {end}" for end in counts if counts[end]),
            lines=[content.count(b"\n", 0, place) + 1],
            places=counts[rare],
            do="Write it again with one kind of line ending",
        )
    ]


def far_longer(part: Split) -> list[Finding]:
    """Sequences so long that something may be missing between two."""
    lengths = part.symbols.lengths
    bound = FAR * max(1.0, float(np.quantile(lengths, 0.75)))
    rows = np.flatnonzero(lengths > bound)
    rows = rows[np.argsort(-lengths[rows], kind="stable")]
    return (
        []
        if not len(rows)
        else [
            finding(
                "note",
                f"sequences far longer than the rest: {len(rows):,}",
                part.file,
                lines=part.lines[rows],
                got=f"up to {lengths[rows[0]]:,} {part.unit}s,"
                f" where three quarters have at most {bound / FAR:,.0f}",
                do="Look whether a quote or a line ending is missing; cut them, or leave them out",
            )
        ]
    )


def sets(part: Split) -> list[Finding]:
    """Of steps that are sets: what is in them, and which are none."""
    if part.unit != STEP:
        return []
    several = [elements_of(name) for name in names_in(part.words)]
    sizes = np.array(list(map(len, several)))[part.words.flat]  # (N,)
    wrong = np.array(
        [len(set(some)) < len(some) or bool({"", EMPTY} & set(some)) for some in several]
    )[part.words.flat]
    rows = np.unique(np.repeat(np.arange(len(part)), part.words.lengths)[wrong])
    found = [
        finding(
            "note",
            "steps are sets, for the task `sets`",
            part.file,
            do="If this is text, say --unit word",
            got=f"{len(frequencies(part.elements)):,} elements, {sizes.mean():.1f} in a set;"
            f" {percent(float((sizes == 0).mean()))} of sets are empty",
        )
    ]
    return (
        found
        if not len(rows)
        else [
            *found,
            finding(
                "error",
                f"sequences with a step that is no set: {len(rows):,}",
                part.file,
                lines=part.lines[rows],
                got=repr(names_in(part.words)[part.words.flat[np.flatnonzero(wrong)[0]]]),
                do="Write different names with + between, or . for the empty set",
            ),
        ]
    )


# What gives the label away


def leaks(part: Split) -> list[Finding]:
    """Words, the length, the order and other fields from which the label can be guessed."""
    label = part.label
    if label is None or not 1 < len(np.unique(label.flat)) <= MOST_CLASSES:
        return []
    found = telling_words(part, label) + own_names(part, label)
    usual = float(shares(label).max())
    for what, right, do in suspects(part, label):
        if right >= PURE and far_above(right, usual):
            found.append(
                finding(
                    "warning",
                    f"{what} alone gives the label away",
                    part.file,
                    do=do,
                    got=f"right for {percent(right)} of the sequences,"
                    f" where the most frequent label is right for {percent(usual)}",
                )
            )
    return found


def suspects(part: Split, label: Field) -> list[tuple[str, float, str]]:
    """What else might give the label away, and how often it is right."""
    labels = label.flat
    found = [
        (
            "the length of a sequence",
            guessed(part.symbols.lengths, labels),
            "Ask how the data was collected: a model may learn this and nothing else",
        ),
        (
            "the order of the file",
            followed(labels),
            "Shuffle before you cut it into parts, as `split` does;"
            " a part cut in order would lack some labels",
        ),
    ]
    for name, column in part.others.items():
        if column.kind != NUMBERS:
            right = guessed(
                groups([words_of(column) if column.kind == TEXT else column])[0], labels
            )
            found.append(
                (
                    f"the field {name!r}",
                    right,
                    "Keep it away from the model: it is the label under another name",
                )
            )
        elif column.values.ndim == 1 and (column.lengths == 1).all():
            right = max(
                guessed(column.flat, labels),
                followed(labels[np.argsort(column.flat, kind="stable")]),
            )
            found.append(
                (
                    f"the field {name!r}",
                    right,
                    f"Keep {name!r} away from the model:"
                    " it tells when or where a row was collected",
                )
            )
    return found


def followed(labels: np.ndarray) -> float:
    """The share of sequences with the label of the one before."""
    return float((labels[1:] == labels[:-1]).mean()) if len(labels) > 1 else 0.0


def guessed(values: np.ndarray, labels: np.ndarray) -> float:
    """The share of sequences whose label is that of most others with the same value. A value that
    occurs once tells nothing."""
    base = 1 + int(labels.max())
    _, number = np.unique(values, return_inverse=True)
    pairs, counts = np.unique(number * base + labels, return_counts=True)
    order = np.lexsort((-counts, pairs // base))  # value by value, the most frequent label first
    value, counts = pairs[order] // base, counts[order]
    first = np.flatnonzero(np.append(True, value[1:] != value[:-1]))
    second = np.where(np.append(value[1:] == value[:-1], False), np.append(counts[1:], 0), 0)[first]
    return float(counts[first][counts[first] - 1 > second].sum() / len(labels))


def far_above(purity: np.ndarray | float, usual: np.ndarray | float) -> np.ndarray | bool:
    """Nine tenths of the errors of a guess without it are gone."""
    return 1 - purity <= (1 - usual) / 10


def table_of(part: Split, label: Field, asked: np.ndarray) -> np.ndarray:
    """(M, C) how many sequences of each class have each of these symbols."""
    place = np.full(len(names_in(part.symbols)), -1)
    place[asked] = np.arange(len(asked))
    chosen = place[part.symbols.flat]  # (N,)
    rows = np.repeat(np.arange(len(part)), part.symbols.lengths)[chosen >= 0]
    pairs = np.sort(rows * len(asked) + chosen[chosen >= 0])
    # a sequence has it, however often
    row, which = np.divmod(pairs[np.diff(pairs, prepend=-1) > 0], max(1, len(asked)))
    classes = len(names_in(label))
    return np.bincount(which * classes + label.flat[row], minlength=len(asked) * classes).reshape(
        -1, classes
    )


def shares(label: Field) -> np.ndarray:
    """(C,) the share of each class."""
    return np.bincount(label.flat, minlength=len(names_in(label))) / len(label)


def telling_words(part: Split, label: Field) -> list[Finding]:
    """Words that nearly all belong to one class."""
    words, classes = names_in(part.symbols), names_in(label)
    often = np.flatnonzero(np.bincount(part.symbols.flat) >= OFTEN)
    table = table_of(part, label, often)  # (M, C)
    many, best = table.sum(1), table.argmax(1)
    purity, usual = table.max(1) / np.maximum(1, many), shares(label)[best]  # (M,)
    bits = many * -np.log(usual)
    telling = np.flatnonzero(
        (many >= OFTEN)
        & (purity >= PURE)
        & far_above(purity, usual)
        & (bits > np.log(1000 * len(words)))
    )
    if not len(telling):
        return []
    telling = telling[np.argsort(-bits[telling], kind="stable")]
    coverage = table.max(1)[telling] / (usual[telling] * len(part))
    said = [
        f"{words[often[i]]!r} -> {classes[best[i]]} ({table[i].max():,} of {many[i]:,})"
        for i in telling[:SHOWN]
    ]
    alone = coverage.max() >= 0.5
    return [
        finding(
            "warning" if alone else "note",
            f"{part.unit}s nearly always with one label: {len(telling):,}",
            part.file,
            got=", ".join(said),
            do="If one of them was put there by the way the data was made, take it out"
            if not alone
            else f"One is in {percent(coverage.max())} of its class: a model needs to learn"
            " little else. Ask how it came there",
        )
    ]


def own_names(part: Split, label: Field) -> list[Finding]:
    """Labels that stand in the text."""
    words = names_in(part.symbols)
    number = {name.lower(): i for i, name in enumerate(names_in(label))}
    named = np.array([i for i, name in enumerate(words) if name.lower() in number], np.int64)
    table = table_of(part, label, named)  # (M, C)
    own = np.array([number[words[i].lower()] for i in named], np.int64)
    right, many = table[np.arange(len(named)), own], table.sum(1)  # (M,)
    wrong = np.flatnonzero(
        (many >= OFTEN) & (1 - right / np.maximum(1, many) <= (1 - shares(label)[own]) / 2)
    )
    said = [
        f"{words[named[i]]!r} in {many[i]:,} sequences, {right[i]:,} of them its own"
        for i in wrong[:SHOWN]
    ]
    return (
        []
        if not said
        else [
            finding(
                "warning" if share(right[wrong].sum(), len(part)) > 0.1 else "note",
                "the name of a label stands in the text",
                part.file,
                got=", ".join(said),
                do="Take it out, unless new data will have it too",
            )
        ]
    )
