"""Looking into counts: what follows a phrase and how the back-off came to it, and how often phrases
occur over time.

    continuations(predictor, "won a *")     what stands at the *, by a model that counts, with the part
                                            of every length of context:

        p_n = share_n + g_n p_(n-1)         n: length of the n-gram; g: what its context lends; p_0 = 1 / V

    over_time("news.csv", "steam engine, telegraph", date="year")     counts in each year, month or day

Both give plain records. Shapes: N symbols, S sequences, P periods, M rows, V symbols of the
vocabulary.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import date as Date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seriatim.codecs.options import CodecOptions
from seriatim.codecs.symbols import STOP, UNKNOWN, Codec, fit_and_encode
from seriatim.data import read
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import ConfigError, DataError, nearest
from seriatim.records import Record, record
from seriatim.settings import build
from seriatim.tasks.language import TASK

if TYPE_CHECKING:
    from seriatim.models.ngrams.ngram import Ngram
    from seriatim.tasks.language.predictor import LanguagePredictor as Predictor


SPACED = ("word", "token")  # units whose symbols stand between blanks


EVERY = ("year", "month", "day")


MANY = 100_000  # periods; more is a mistake in a date


# What stands at the *


def continuations(predictor: Predictor, pattern: str, top: int = 20) -> Record:
    """The likeliest symbols at the * of a pattern, with their counts and the back-off behind each;
    without a *, the phrase itself.

    >>> import seriatim as st
    >>> data = Sequences.of(["the cat saw the dog", "the cat ran"], unit="word")
    >>> model = st.fit("language", "kneser-ney", data, order=2)
    >>> rows = continuations(model, "the *", top=2)["rows"]
    >>> [(row["symbol"], row["count"], round(row["probability"], 3)) for row in rows]
    [('cat', 2, 0.4), ('dog', 1, 0.234)]
    """
    if top < 1:
        raise ConfigError("at least one symbol is shown", got=top, do="Choose a --top of 1 or more")
    name, model = counting_part(predictor)
    codec, pieces = predictor.codec, split_at_gap(pattern, predictor.codec.options.unit)
    before, context = cut(codec, pieces[0], begins=True, ends=len(pieces) == 1)
    record: Record = {
        "shape": "phrase",
        "model": name,
        "longest": model.reach + 1,
        "unit": codec.options.unit,
        "pattern": pattern,
        "context": before,
        "after": [],
        "unknown": [],
        "notes": [],
        "rows": [],
    }
    if name != predictor.spec:
        record["notes"].append(f"of the mixture {predictor.spec} only its part {name} is shown")
    after: list[int] = []
    if len(pieces) == 2:
        record["after"], after = cut(codec, pieces[1], begins=False, ends=True)
        record["shape"] = "gap" if after else "continuation"
    record["unknown"] = list(
        dict.fromkeys(
            piece
            for piece, i in zip([*before, *record["after"]], [*context, *after])
            if i == UNKNOWN
        )
    )
    if record["unknown"]:
        record["notes"].append(f"the model does not know {', '.join(map(repr, record['unknown']))}")
    if len(pieces) == 1:
        return record | {"context": []} | phrase_rows(model, codec, context)
    record["rows"] = ranked(model, codec, context, after, top)
    record["notes"] += who_answers(model, codec, before, len(context), record["rows"])
    return record


def who_answers(
    model: Ngram, codec: Codec, before: list[str], given: int, rows: list[Record]
) -> list[str]:
    """A note where not the whole context answers, or nothing does."""
    if not rows:
        return ["nothing is possible here: this model gives every symbol probability 0"]
    used = rows[0]["orders"][0]["ngram"][:-1]
    if len(used) >= min(given, model.reach):
        return []
    blank = " " if codec.options.unit in SPACED else ""
    wanted, answers = repr(blank.join(before[-model.reach :])), repr(blank.join(used))
    return [
        f"{wanted} was never followed by anything in training: "
        f"{answers if used else 'no context'} answers"
    ]


def counting_part(predictor: Predictor) -> tuple[str, Ngram]:
    """The name and the model of the first part that keeps counts of n-grams."""
    from seriatim.models.ngrams.ngram import Ngram

    for part, model in zip(predictor.parts, predictor.model.parts, strict=True):
        if isinstance(model, Ngram):
            return part.name, model
    able = [
        name
        for name, rung in predictor.task.rungs.items()
        if str(rung.implementation).startswith("seriatim.models.ngrams.ngram:")
        and name != "uniform"
    ]
    raise ConfigError(
        "only models that count n-grams can be explored",
        got=predictor.spec,
        do=f"Fit one of these: {', '.join(able)}",
    )


def split_at_gap(pattern: str, unit: str) -> list[str]:
    r"""What stands before the * and after it; one piece where there is none. A * that is meant is
    written \*.

    >>> split_at_gap("won * prize", "word"), split_at_gap("2*3", "word"), split_at_gap("th*", "character")
    (['won ', ' prize'], ['2*3'], ['th', ''])
    """
    pieces = re.split(r"(?<!\S)\*(?!\S)" if unit in SPACED else r"(?<!\\)\*", pattern)
    if len(pieces) > 2:
        raise ConfigError(
            "a pattern has one * at most", got=pattern, do=r"Write \* for a * that is meant"
        )
    if not (pattern.split() if unit in SPACED else pattern):
        raise ConfigError(
            "the pattern is empty", do='Give a phrase with a * in it, for instance "won a *"'
        )
    if unit == "subword" and len(pieces) == 2:
        pieces[0] = pieces[0].rstrip(" ")  # a blank is part of the subword behind it
    return [piece.replace(r"\*", "*") for piece in pieces]


def cut(codec: Codec, text: str, begins: bool, ends: bool) -> tuple[list[str], list[int]]:
    """The pieces of text and their numbers; among words, <s> in front is the beginning of a
    sequence and </s> behind its end."""
    first, last, words = [], [], text.split()
    if codec.options.unit in SPACED:
        if begins and words[:1] == ["<s>"] and "<s>" not in codec.number:
            first, words = ["<s>"], words[1:]
        if ends and words[-1:] == ["</s>"]:
            last, words = ["</s>"], words[:-1]
        text = " ".join(words)
    names = [*first, *map(codec.shown, codec.pieces_of(text)), *last]
    ids = codec.encode_text(text).tolist()
    return names, [codec.size] * len(first) + ids + [STOP] * len(last)


def nodes_after(model: Ngram, context: list[int]):
    """(1, n - 1) the state after a context in the middle of a sequence."""
    import torch

    state, last = torch.full((1, model.reach), -1), context[max(0, len(context) - model.reach) :]
    return model.advance(torch.tensor([last]), state)[:, -1] if last else state


def ranked(
    model: Ngram, codec: Codec, context: list[int], after: list[int], top: int
) -> list[Record]:
    """The likeliest symbols after a context: alone, or together with what follows them."""
    import torch

    state = nodes_after(model, context)
    log_p = model.log_probs(state.numpy())[0].astype(np.float64)  # (V,)
    joint, every = log_p.copy(), torch.arange(model.vocabulary)[:, None]  # (V, 1)
    if after:
        joint[STOP] = -np.inf  # nothing follows the end
        nodes = model.advance(every, state.expand(model.vocabulary, -1))[:, 0]  # (V, n - 1)
        for symbol in after:
            following = np.full(model.vocabulary, symbol)
            joint += model.look_up(nodes.numpy(), following)[0]
            nodes = model.advance(torch.from_numpy(following)[:, None], nodes)[:, 0]
    best = np.argsort(-joint, kind="stable")[:top]
    best = best[joint[best] > -np.inf]
    whole = np.logaddexp.reduce(joint)
    rows = []
    for symbol, orders in zip(best.tolist(), orders_of(model, codec, context, best), strict=True):
        row = {
            "symbol": codec.shown(codec.symbols[symbol]),
            "count": orders[0]["count"],
            "different_before": before_of(model, orders[0]),
            "probability": math.exp(joint[symbol]),
            "orders": orders,
        }
        if after:
            stretch = [*context[max(0, len(context) + len(after) - model.reach) :], symbol, *after][
                : model.reach + 1
            ]
            row |= {
                "count": count_of(model, stretch),
                "different_before": None,  # the count is of more than the symbol's own n-gram
                "posterior": math.exp(joint[symbol] - whole),
            }  # p given what stands on both sides
        rows.append(row)
    return rows


def phrase_rows(model: Ngram, codec: Codec, ids: list[int]) -> Record:
    """The symbols of a phrase one after another, each after those before it."""
    rows = []
    for place, symbol in enumerate(ids):
        if symbol == codec.size:  # the beginning itself is not predicted
            continue
        orders = orders_of(model, codec, ids[:place], np.array([symbol]))[0]
        p = orders[0]["probability"]
        rows.append(
            {
                "symbol": codec.shown(codec.symbols[symbol]),
                "count": count_of(model, ids[max(0, place - model.reach) : place + 1]),
                "different_before": before_of(model, orders[0]),
                "probability": p,
                "log_prob": math.log(p) if p else None,
                "orders": orders,
            }
        )
    possible = all(row["log_prob"] is not None for row in rows)
    return {
        "count": count_of(model, ids)
        if len(ids) <= model.reach + 1
        else None,  # longer ones were not counted
        "log_prob": sum(row["log_prob"] for row in rows) if possible else None,
        "rows": rows,
    }


def before_of(model: Ngram, order: Record) -> int | None:
    """How many different symbols stood before an n-gram, where that is counted in the place of the
    n-gram itself: Kneser-Ney, of all but the longest and those that begin a sequence."""
    shorter = order["order"] <= model.reach and order["ngram"][0] != "<s>"
    return order["amount"] if model.method.continuation and shorter else None


def count_of(model: Ngram, gram: list[int]) -> int | None:
    """How often an n-gram occurred in training; None where the model has no counts, or may have
    left it out."""
    counts, node = model.tables.counts[len(gram) - 1], int(model.tables.find(np.array([gram]))[0])
    return (
        None
        if not len(model.tables.counts[0])
        else int(counts[node])
        if node >= 0
        else never(model)
    )


def never(model: Ngram) -> int | None:
    """The count of an n-gram that is not in the tables: 0, unless it was pruned."""
    return None if any(model.options.prune) or model.options.threshold else 0


def orders_of(
    model: Ngram, codec: Codec, context: list[int], symbols: np.ndarray
) -> list[list[Record]]:
    """For each of (M,) symbols how its probability came about, from the longest context that was
    followed by anything down to none."""
    nodes = nodes_after(model, context)[0].numpy()  # (n - 1,)
    found: list[list[Record]] = [[] for _ in symbols]
    lower = np.full(len(symbols), model.even())  # (M,)
    for n in range(1, model.reach + 2):
        node = 0 if n == 1 else int(nodes[n - 2])
        log_g = handed_on(model, n, node)
        if log_g is None:
            continue
        around = [name_of(codec, i) for i in context[len(context) - n + 1 :]] if n > 1 else []
        grams = [[*around, name_of(codec, symbol)] for symbol in symbols.tolist()]
        shorter = np.full((len(symbols), model.reach), -1)
        shorter[:, : n - 1] = nodes[: n - 1]
        log_p, used, place = model.look_up(shorter, symbols)
        p = np.exp(log_p.astype(np.float64))
        for m, (gram, orders) in enumerate(zip(grams, found, strict=True)):
            at = int(place[m]) if used[m] == n else None
            order = one_order(model, n, node, at, gram, float(p[m]), float(lower[m]), log_g)
            orders.insert(0, order)
        lower = p
    for orders in found:
        contribute(orders)
    return found


def name_of(codec: Codec, symbol: int) -> str:
    """A symbol, or the beginning, as text."""
    return "<s>" if symbol == codec.size else codec.shown(codec.symbols[symbol])


def one_order(
    model: Ngram,
    n: int,
    node: int,
    place: int | None,
    gram: list[str],
    p: float,
    lower: float,
    log_g: float,
) -> Record:
    """What an n-gram adds to what the shorter one says, `lower`; its place is None if it has
    none."""
    from seriatim.models.ngrams.ngram import Markov
    from seriatim.models.ngrams.smoothing import good_turing

    # pruned, rounded or read: shares are not known any more
    altered = never(model) is None or not len(model.tables.counts[0])
    unsmoothed = isinstance(model, Markov)
    # an n-gram that was seen asks no other
    alone = altered or unsmoothed or model.method.weigh is good_turing
    count = counted_at(model, n, place)
    seen = place is not None and count != 0  # symbols that never occurred have a node, too
    lent = None if unsmoothed or (seen and alone) else math.exp(log_g)
    rest = max(0.0, p - (lent or 0.0) * lower)
    order = {
        "order": n,
        "ngram": gram,
        "count": count,
        "context_count": context_count_of(model, n, node),
        "probability": p,
        "share": rest if seen or lent is None else 0.0,
        "lent": lent,
    }
    return order | (NOT_TAKEN if place is None or not seen else taken_of(model, n, place))


NOT_TAKEN: Record = {"amount": None, "discount": None}


def contribute(orders: list[Record]) -> None:
    """Add what each order contributes: these and the last weight / V make up the probability."""
    weight = 1.0
    for each in orders:
        each["contribution"] = weight * each["share"]
        weight *= each["lent"] or 0.0


def handed_on(model: Ngram, n: int, node: int) -> float | None:
    """The logarithm of what a context of n - 1 symbols leaves to the shorter one, nan if that is
    not known; None where it only hands on what the shorter one says."""
    tables, where = model.tables, np.array([node])
    log_g = float(tables.log_g[n - 1][where][0]) if node >= 0 else math.nan
    followed = node >= 0 and (n == 1 or len(tables.children_of(n - 1, where)[0]) > 0)
    return None if not followed and (math.isnan(log_g) or log_g == 0) else log_g


def counted_at(model: Ngram, n: int, place: int | None) -> int | None:
    """How often an n-gram was counted; None where counts are not kept."""
    counts = model.tables.counts[n - 1]
    if not len(counts):
        return None
    return never(model) if place is None else int(counts[place])


def context_count_of(model: Ngram, n: int, node: int) -> int | None:
    """How often the context of an n-gram was counted; None where counts are not kept."""
    counts = model.tables.counts
    if not len(counts[n - 1]):
        return None
    return int(counts[0][:-1].sum(dtype=np.int64)) if n == 1 else int(counts[n - 2][node])


def taken_of(model: Ngram, n: int, node: int) -> Record:
    """What smoothing made of the count of an n-gram (of Kneser-Ney's shorter ones, how many symbols
    stood before it; 255 is 255 or more), and what it took from that; None where that is not known,
    or nothing is taken."""
    if not len(model.tables.amounts[n - 1]):
        return {"amount": None, "discount": None}
    amount = int(model.tables.amounts[n - 1][node])
    takes = len(model.discounts) >= n and len(model.discounts[n - 1]) > 1
    return {
        "amount": amount,
        "discount": float(model.taken(n, np.array([amount]))[0]) if takes else None,
    }


# How often, over time


def over_time(
    data: Sequences | str | Path,
    phrases: str | Iterable[str],
    date: str,
    every: str = "year",
    unit: str = "word",
    lower: bool = False,
    smooth: int = 3,
    field: str | None = None,
) -> Record:
    """How often phrases (a list, or text with commas between) occur in each period, in all and per
    million symbols.

    `date` names the field with the dates. A period without any text has no frequency: None, not
    zero. `smoothed` is the mean over a period and `smooth` periods on each side of it, those with
    text.

    >>> texts = Field.of_text(["steam and steam", "the sail"])
    >>> table = Sequences({"year": Field.of_text(["1843", "1845"]), "text": texts})
    >>> record = over_time(table, "steam, sail", date="year", smooth=0)
    >>> record["periods"], record["tokens"], [row["counts"] for row in record["phrases"]]
    (['1843', '1844', '1845'], [3, 0, 2], [[2, None, 0], [0, None, 1]])
    """
    asked = re.split(r"\s*,\s*", phrases.strip()) if isinstance(phrases, str) else list(phrases)
    check_question(asked, every, unit, smooth)
    data = data if isinstance(data, Sequences) else read(str(data))
    when = periods_of(data, date, every)  # (S,)
    rest = replace(
        data, fields={name: column for name, column in data.fields.items() if name != date}
    )
    codec, ids = fit_and_encode(
        rest.main if field is None else data.field(field),
        build(CodecOptions, {"unit": unit, "lower": lower}, "ngrams"),
    )
    first, many = int(when.min()), int(when.max() - when.min()) + 1
    if many > MANY:
        raise DataError(
            f"the dates span {many:,} {every}s",
            got=f"{named(first, every)} to {named(first + many - 1, every)}",
            file=data.origin,
            do="Correct the first or the last date, or choose a longer --every",
        )
    tokens = np.bincount(when - first, ids.lengths, many)  # (P,)
    found = [
        phrase_over_time(phrase, codec, ids, when - first, tokens, smooth)
        for phrase in asked
        if phrase
    ]
    notes = [f"{each['phrase']!r} does not occur" for each in found if not each["count"]]
    return {
        "data": data.origin,
        "every": every,
        "unit": unit,
        "smooth": smooth,
        "notes": notes,
        "periods": [named(first + p, every) for p in range(many)],
        "tokens": tokens.astype(int).tolist(),
        "phrases": found,
    }


def frequencies(
    file: Any,
    *,
    phrases: str = "",
    date: str = "",
    every: str = "year",
    smooth: int = 3,
    unit: str = "word",
    lower: bool = False,
    field: str = "",
    columns: str = "",
    input_format: str = "",
) -> Record:
    """The verb: how often phrases occur over time, in a table with dates."""
    if not phrases:
        raise ConfigError(
            "phrases are counted over time",
            got="no --phrases",
            do='Name them: --phrases "one, another"',
        )
    data = read(file, input_format=input_format or None, columns=columns or None)
    found = over_time(
        data, phrases, date or date_in(data), every, unit, lower, smooth, field or None
    )
    return record("frequencies", task=TASK.name, **found)


def date_in(data: Sequences) -> str:
    """The field with the dates, where it has that name."""
    found = next((name for name in data.fields if name.lower() == "date"), None)
    if found is None:
        raise ConfigError(
            f"no field of {data.origin} is called date, and none was named",
            got=f"fields: {', '.join(data.fields)}",
            do="Name the field of the dates with --date",
        )
    return found


def check_question(phrases: list[str], every: str, unit: str, smooth: int) -> None:
    """An error for a question that has no phrase, or asks for what there is not."""
    if not any(phrase.strip() for phrase in phrases):
        raise ConfigError(
            "no phrase was given",
            got=",".join(phrases),
            do='Give phrases with commas between: "steam engine, telegraph"',
        )
    if every not in EVERY:
        raise ConfigError("unknown period", got=every, do=nearest(every, EVERY))
    if unit not in (*SPACED, "character"):
        raise ConfigError(
            "phrases are counted in words, tokens or characters",
            got=unit,
            do=nearest(unit, (*SPACED, "character")),
        )
    if smooth < 0:
        raise ConfigError(
            "a moving average takes 0 or more periods on each side",
            got=smooth,
            do="Choose a --smooth of 0 or more",
        )


def phrase_over_time(
    phrase: str, codec: Codec, ids: Field, when: np.ndarray, tokens: np.ndarray, smooth: int
) -> Record:
    """Counts and frequencies of one phrase; (S,) periods of the sequences, (P,) symbols in each
    period."""
    numbers = codec.encode_text(phrase)
    if not len(numbers):
        raise ConfigError(
            f"this phrase has no {codec.options.unit}s", got=repr(phrase), do="Leave it out"
        )
    unknown = UNKNOWN in numbers
    counts = (
        np.zeros(len(tokens))
        if unknown
        else np.bincount(when[sequences_with(ids, numbers)], minlength=len(tokens)).astype(
            np.float64
        )
    )
    there = tokens > 0  # (P,)

    def listed(values: np.ndarray, kind: type) -> list:
        """Plain numbers, None where there are none."""
        return [
            kind(value) if known else None for value, known in zip(values.tolist(), there.tolist())
        ]

    frequency = 1e6 * counts / np.maximum(tokens, 1)
    mean = together(frequency, smooth) / np.maximum(together(there.astype(np.float64), smooth), 1)
    return {
        "phrase": phrase,
        "count": int(counts.sum()),
        "counts": listed(counts, int),
        "frequency": listed(frequency, float),
        "smoothed": listed(mean, float),
    }


def sequences_with(ids: Field, phrase: np.ndarray) -> np.ndarray:
    """The sequence of each place where a phrase stands; it never reaches from one sequence into the
    next."""
    flat, last = ids.flat, max(0, len(ids.flat) - len(phrase) + 1)
    place = np.flatnonzero(flat[:last] == phrase[0])
    for further, symbol in enumerate(phrase[1:], 1):
        place = place[flat[place + further] == symbol]
    row = np.searchsorted(ids.offsets, place, "right") - 1
    return row[place + len(phrase) <= ids.offsets[row + 1]]


def together(values: np.ndarray, width: int) -> np.ndarray:
    """(P,) -> (P,) the sum of each period and of `width` on either side."""
    total = np.concatenate([np.zeros(1), np.cumsum(values)])
    place = np.arange(len(values))
    return total[np.minimum(place + width + 1, len(values))] - total[np.maximum(place - width, 0)]


# Dates

A_YEAR = re.compile(r"-?\d{1,4}(?:\.0*)?")


A_DATE = re.compile(r"(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2})(?:[T ]\d{1,2}:\d{2}.*)?)?")


def periods_of(data: Sequences, name: str, every: str) -> np.ndarray:
    """(S,) the period of each sequence as a number, consecutive ones in a row."""
    column = data.field(name)
    known: dict[str, int] = {}
    numbers = np.zeros(len(column), np.int64)
    for s in range(len(column)):
        raw = column.raw(s)
        text = (
            raw.strip()
            if isinstance(raw, str)
            else " ".join(map(str, raw.tolist() if isinstance(raw, np.ndarray) else raw))
        )
        if text not in known:
            try:
                known[text] = period(text, every)
            except ValueError as error:
                raise DataError(
                    f"{error} in field {name!r}",
                    got=repr(text),
                    file=data.origin,
                    line=None if data.lines is None else int(data.lines[s]),
                    do="Dates are 1843, 1843-05, 1843-05-01, 1843/05/01 or 1843-05-01T12:00:00"
                    if "date" in str(error)
                    else "Choose a longer --every",
                ) from None
        numbers[s] = known[text]
    return numbers


def period(text: str, every: str) -> int:
    """The year, month or day that a date falls into, counted from year 0; ValueError if it does not
    tell.

    >>> period("1843-05-01", "year"), period("1843.0", "year"), named(period("1843/5", "month"), "month")
    (1843, 1843, '1843-05')
    """
    match = A_DATE.fullmatch(text)
    if not match and not A_YEAR.fullmatch(text):
        raise ValueError("this is not a date")
    if not match or A_YEAR.fullmatch(text):
        if every != "year":
            raise ValueError(f"there is no {every}")
        return int(text.partition(".")[0])
    year, month, day = int(match[1]), int(match[2]), int(match[3] or 1)
    try:
        found = Date(year, month, day)
    except ValueError:
        raise ValueError("this is not a date") from None
    if every == "day" and match[3] is None:
        raise ValueError("there is no day")
    return {"year": year, "month": 12 * year + month - 1, "day": found.toordinal()}[every]


def named(number: int, every: str) -> str:
    """The name of a period."""
    if every == "year":
        return str(number)
    return (
        f"{number // 12:04d}-{number % 12 + 1:02d}"
        if every == "month"
        else Date.fromordinal(number).isoformat()
    )
