"""Found labels and spans of tags against the true ones: figures, calibration, thresholds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from seriatim.errors import ConfigError, DataError
from seriatim.measuring.measured import Measured, check_paired
from seriatim.measuring.ratios import quotients, ratio
from seriatim.measuring.resampling import (
    MOST_GROUPS,
    Record,
    drawn_together,
    group_starts,
    mcnemar,
    paired_bootstrap,
    resample,
    side_by_side,
    two_sided,
    wilson,
)

Span = tuple[int, int, str]  # begin, end (one behind the last element), type


HOTTEST = 1000.0  # temperatures are looked for between its inverse and itself


SCHEMES = {"O", "B", "I", "E", "S"}  # outside, begin, inside, end, single


# Labels


def confusion(truth: np.ndarray, found: np.ndarray, labels: int) -> np.ndarray:
    """(N,), (N,) numbers of labels below K -> (K, K) how often each true label (row) was found to
    be each label (column)."""
    truth, found = side_by_side(truth, found)
    for column in (truth, found):
        check_labels(column, labels)
    return np.bincount(truth.astype(np.int64) * labels + found, minlength=labels * labels).reshape(
        labels, labels
    )


def report(truth: np.ndarray, found: np.ndarray, names: Sequence[str]) -> Record:
    """Every figure of (N,) found labels against (N,) true ones. What is undefined is 0; macro is
    the mean over labels that are true or found.

    >>> figures = report(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]), ["ham", "spam"])
    >>> figures["accuracy"], figures["confusion"], figures["classes"][1]["precision"]
    (0.75, [[2, 1], [0, 1]], 0.5)
    """
    table = confusion(truth, found, len(names))  # (K, K)
    right, called, true = table.diagonal().tolist(), table.sum(0).tolist(), table.sum(1).tolist()
    count, correct = sum(true), sum(right)
    classes = [
        {"name": name, **quotients(*counts), "support": counts[2]}
        for name, *counts in zip(names, right, called, true, strict=True)
    ]
    seen = [each for each, *counts in zip(classes, called, true) if any(counts)]
    return {
        "labels": count,
        "accuracy": correct / count,
        "interval": {"confidence": 0.95, "accuracy": list(wilson(correct, count))},
        "macro": {
            name: sum(each[name] for each in seen) / len(seen)
            for name in ("precision", "recall", "f1")
        },
        "micro": quotients(correct, count, count),
        "weighted_f1": sum(each["f1"] * each["support"] for each in classes) / count,
        "matthews": matthews(correct, called, true),
        "classes": classes,
        "confusion": table.tolist(),
    }


def matthews(correct: int, found: Sequence[int], true: Sequence[int]) -> float:
    """The correlation of (K,) counts of found and true labels, `correct` of which agree; 0 where
    all are found, or are, the same."""
    count = sum(true)
    spread = (count**2 - sum(n * n for n in true)) * (count**2 - sum(n * n for n in found))
    return ratio(count * correct - sum(f * t for f, t in zip(found, true)), math.sqrt(spread))


# Probabilities


def calibration(log_probs: np.ndarray, truth: np.ndarray, bins: int = 15) -> Record:
    """Whether (N, K) log-probabilities mean what they say: of labels found with probability 0.8,
    are 80 % right?

    `bins` are of equal width, their means None where they are empty; `brier` is the sum over labels
    (0 to 2, Brier 1950), and `log_loss` None where a true label has probability 0.
    """
    log_probs, truth = checked_scores(log_probs, truth)
    probs, own = np.exp(log_probs), log_probs[np.arange(len(truth)), truth]  # (N, K), (N,)
    if bins < 1:
        raise ConfigError("at least one bin is needed", got=bins)
    if not (abs(probs.sum(1) - 1) < 1e-3).all():
        raise DataError(
            "the probabilities of an example sum to one",
            got=probs.sum(1),
            do="Give log-probabilities: cooled(scores, 1.0) makes them",
        )
    confidence, right = probs.max(1), probs.argmax(1) == truth
    place = np.clip(
        np.ceil(confidence * bins).astype(int) - 1, 0, bins - 1
    )  # (N,) a bin holds its upper end
    sums = [np.bincount(place, weights, bins).tolist() for weights in (confidence, right, None)]
    filled = [
        {
            "confidence": sure / n if n else None,
            "accuracy": hits / n if n else None,
            "count": int(n),
        }
        for sure, hits, n in zip(*sums)
    ]
    return {
        "log_loss": 0.0 - float(own.mean()) if np.isfinite(own).all() else None,
        "error": sum(abs(hits - sure) for sure, hits, _ in zip(*sums)) / len(truth),
        "brier": float(((probs**2).sum(1) - 2 * np.exp(own) + 1).mean()),
        "bins": filled,
    }


def cooled(log_probs: np.ndarray, t: float) -> np.ndarray:
    """(N, K) -> (N, K) log softmax(log_probs / t): surer below a temperature of 1, less sure
    above."""
    if not 0 < t < math.inf:
        raise ConfigError("a temperature is a number above 0", got=t)
    scaled = np.asarray(log_probs, np.float64) / t
    scaled = scaled - scaled.max(-1, keepdims=True)
    return scaled - np.log(np.exp(scaled).sum(-1, keepdims=True))


def temperature(log_probs: np.ndarray, truth: np.ndarray, doubt: bool = False) -> float:
    """The temperature that minimises the log loss of (N, K) log-probabilities, by bisection of its
    slope (Guo et al. 2017).

    The loss is convex in 1 / t. No temperature saves a true label of probability 0, so such
    examples are left out. With `doubt` every example counts for 1 / (N + 2) as if the likeliest of
    the other labels were true (as the targets of Platt 1999, after Laplace): where all of N are
    right, what is found is not certain.

    >>> right = np.log(np.array([[0.3, 0.7], [0.7, 0.3]] * 49))
    >>> t = temperature(right, np.array([1, 0] * 49), doubt=True)
    >>> round(float(np.exp(cooled(right, t)).max(1).mean()), 3)
    0.99
    """
    log_probs, truth = checked_scores(log_probs, truth)
    own = log_probs[np.arange(len(truth)), truth]  # (N,)
    possible = np.isfinite(own)
    if not possible.any():
        return 1.0
    log_probs, own = log_probs[possible], own[possible]
    values = np.where(
        np.isfinite(log_probs), log_probs, 0.0
    )  # what is impossible has no part in the mean
    if doubt:
        others = log_probs.copy()
        others[np.arange(len(own)), truth[possible]] = -np.inf
        other = others.max(1)
        share = np.where(np.isfinite(other), 1 / (len(own) + 2), 0.0)
        own = own + share * (np.where(np.isfinite(other), other, 0.0) - own)
    low, high = 1 / HOTTEST, HOTTEST
    for _ in range(50):
        t = math.sqrt(low * high)
        expected = (np.exp(cooled(log_probs, t)) * values).sum(1)  # (N,)
        slope = float((expected - own).mean())  # d loss / d (1 / t)
        if abs(slope) < 1e-12:
            break
        low, high = (t, high) if slope > 0 else (low, t)
    return t


# Thresholds, for two classes


def threshold(scores: np.ndarray, positive: np.ndarray, most_false: float) -> Record:
    """The lowest threshold with which at most the share `most_false` of the negatives is called
    positive: of a score at or above it.

    >>> spam = np.array([True, False, True, False])
    >>> threshold(np.array([0.9, 0.8, 0.7, 0.6]), spam, most_false=0.5)
    {'threshold': 0.7, 'recall': 1.0, 'precision': 0.6666666666666666, 'false': 0.5}
    """
    if not 0 <= most_false <= 1:
        raise ConfigError(
            "a share lies between 0 and 1", got=most_false, do="Write 0.001 for 0.1 %"
        )
    bounds, true, false = curve(scores, positive)  # (T,) each
    allowed = np.flatnonzero(false <= most_false * false[-1] + 1e-9)
    if not len(allowed):  # the highest score is a negative's
        return {
            "threshold": float(np.nextafter(bounds[0], np.inf)),
            "recall": 0.0,
            "precision": 0.0,
            "false": 0.0,
        }
    lowest = allowed[-1]
    right, wrong = int(true[lowest]), int(false[lowest])
    return {
        "threshold": float(bounds[lowest]),
        "recall": right / int(true[-1]),
        "precision": right / (right + wrong),
        "false": wrong / int(false[-1]),
    }


def at_threshold(scores: np.ndarray, positive: np.ndarray, bound: float) -> Record:
    """What a threshold chosen elsewhere comes to on these scores.

    >>> spam = np.array([True, False, True, False])
    >>> at_threshold(np.array([0.9, 0.8, 0.7, 0.6]), spam, 0.75)
    {'threshold': 0.75, 'recall': 0.5, 'precision': 0.5, 'false': 0.5}
    """
    scores, positive = side_by_side(scores, positive)
    called = scores >= bound
    right, wrong = int((called & positive).sum()), int((called & ~positive).sum())
    return {
        "threshold": float(bound),
        "recall": ratio(right, int(positive.sum())),
        "precision": ratio(right, right + wrong),
        "false": ratio(wrong, int((~positive).sum())),
    }


def area(scores: np.ndarray, positive: np.ndarray) -> dict[str, float]:
    """The area under the curve of recall over the share of false alarms, and average precision, sum
    (recall_t - recall_t-1) precision_t."""
    _, true, false = curve(scores, positive)  # (T,) each
    under = np.trapezoid(np.append(0, true), np.append(0, false))
    precise = (np.diff(true, prepend=0) * true / (true + false)).sum()
    return {
        "roc": float(under / true[-1] / false[-1]),
        "average_precision": float(precise / true[-1]),
    }


def curve(scores: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(N,), (N,) -> (T,) different scores, the highest first, and how many positives and negatives
    score so high at least."""
    scores, positive = side_by_side(scores, positive)
    positive = positive.astype(bool)
    if positive.all() or not positive.any():
        raise DataError(
            "examples of both classes are needed",
            got=f"{positive.sum()} positive, {(~positive).sum()} negative",
            do="Choose the threshold on data that holds both",
        )
    if not (scores < np.inf).all():
        raise DataError("scores are numbers", got=scores[~(scores < np.inf)])
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    last = np.append(
        np.flatnonzero(ordered[1:] != ordered[:-1]), len(ordered) - 1
    )  # (T,) of equal scores
    true = np.cumsum(positive[order])[last]
    return ordered[last], true, last + 1 - true


def precision_curve(scores: np.ndarray, positive: np.ndarray, most: int = 200) -> list[Record]:
    """Threshold, precision and recall, the highest threshold first: all points, or `most` of them
    in equal steps along the curve.

    >>> spam = np.array([True, False, True, False])
    >>> precision_curve(np.array([0.9, 0.8, 0.7, 0.6]), spam, most=2)
    [{'threshold': 0.9, 'precision': 1.0, 'recall': 0.5}, {'threshold': 0.6, 'precision': 0.5, 'recall': 1.0}]
    """
    bounds, true, false = curve(scores, positive)  # (T,) each
    points = np.stack([bounds, true / (true + false), true / true[-1]], 1)  # (T, 3)
    way = np.append(0, np.cumsum(np.abs(np.diff(points, axis=0)).sum(1)))
    kept = np.arange(len(points))
    if len(points) > most:
        kept = np.unique(np.searchsorted(way, np.linspace(0, way[-1], most)).clip(0, len(way) - 1))
    names = ("threshold", "precision", "recall")
    return [dict(zip(names, each)) for each in points[kept].tolist()]


# Spans


def marks_spans(names: Sequence[str]) -> bool:
    """Whether tags mark spans: each is O, or B-, I-, E- or S- and a type, and not all are O."""
    return all(map(in_scheme, names)) and any(name != "O" for name in names)


def in_scheme(name: str) -> bool:
    """Whether this is a tag of spans.

    >>> [in_scheme(name) for name in ("O", "B-PER", "S-ORG", "B", "X", "NOUN")]
    [True, True, True, False, False, False]
    """
    scheme, _, kind = name.partition("-")
    return name == "O" or (scheme in SCHEMES - {"O"} and bool(kind))


def spans(tags: Sequence[str]) -> set[Span]:
    """The spans that tags mark, as IOB1, IOB2 or BIOES, by the rules of conlleval: an I- or E- that
    continues nothing begins a span.

    >>> sorted(spans(["B-PER", "I-PER", "O", "I-ORG", "B-ORG"]))
    [(0, 2, 'PER'), (3, 4, 'ORG'), (4, 5, 'ORG')]
    """
    found, begin, kind, before = set(), 0, "", "O"
    for place, tag in enumerate([*tags, "O"]):
        scheme, _, name = tag.partition("-")
        if scheme not in SCHEMES:
            raise DataError(
                "a tag that marks spans is O, or B-, I-, E- or S- and a type",
                got=repr(tag),
                do="Score other tags with `report`",
            )
        if not (
            scheme in ("I", "E") and before in ("B", "I") and name == kind
        ):  # it does not continue
            if before != "O":
                found.add((begin, place, kind))
            begin, kind = place, name
        before = scheme
    return found


def span_report(truth: Sequence[Sequence[str]], found: Sequence[Sequence[str]]) -> Record:
    """Precision, recall and F1 of whole spans, overall and by type: right is a span of the right
    type that begins and ends where it should."""
    lengths = [[len(tags) for tags in rows] for rows in (truth, found)]
    if lengths[0] != lengths[1]:
        raise DataError(
            "every sequence needs as many found tags as true ones",
            got=f"{sum(lengths[0])} true, {sum(lengths[1])} found",
        )
    true, called = (
        {(s, *span) for s, tags in enumerate(rows) for span in spans(tags)}
        for rows in (truth, found)
    )
    by_type = [Counter(kind for *_, kind in some) for some in (true & called, called, true)]
    types = [
        {
            "name": kind,
            **quotients(*(count[kind] for count in by_type)),
            "support": by_type[2][kind],
        }
        for kind in sorted({*by_type[1], *by_type[2]})
    ]
    return {
        **quotients(len(true & called), len(called), len(true)),
        "support": len(true),
        "found": len(called),
        "types": types,
    }


def span_counts(
    truth: np.ndarray, found: np.ndarray, offsets: np.ndarray, names: Sequence[str]
) -> np.ndarray:
    """(N,), (N,) numbers of tags -> (S, 3) how many spans of each sequence were found and right,
    were found, and are true. A tag that marks no spans is outside of all."""
    known = [name if in_scheme(name) else "O" for name in names]
    counts = np.zeros((len(offsets) - 1, 3), np.int64)
    for s, (begin, end) in enumerate(pairwise(offsets.tolist())):
        true, called = (spans([known[tag] for tag in tags[begin:end]]) for tags in (truth, found))
        counts[s] = len(true & called), len(called), len(true)
    return counts


def f1_of(counts: np.ndarray) -> np.ndarray:
    """(..., 3) right, found, true -> (...) F1; 0 where there is nothing."""
    return 2 * counts[..., 0] / np.maximum(1, counts[..., 1] + counts[..., 2])


def drawn_f1(counts: np.ndarray) -> np.ndarray:
    """(S, 3) -> (R,) the F1 of all spans, if other sequences had been drawn."""
    cuts = np.arange(0, len(counts), max(1, len(counts) // MOST_GROUPS))
    return f1_of(resample(len(cuts)) @ np.add.reduceat(counts, cuts))


def interval_of_f1(counts: np.ndarray) -> tuple[float, float]:
    """(S, 3) -> the 95 % interval of the F1 of all spans. Where every draw is 0, or 1, it is Wilson's
    of so many true spans: not one in thirty, or all of thirty, is not certain."""
    low, high = np.quantile(drawn_f1(counts), [0.025, 0.975])
    if low != high or low not in (0.0, 1.0):
        return float(low), float(high)
    true = int(counts[:, 2].sum())
    return wilson(round(low * true), true) if true else (0.0, 1.0)


# Two models


def right(measured: Measured) -> np.ndarray:
    """(N,) where the answer is the truth."""
    return measured["answers"] == measured["truth"]


def p_of_labels(first: Measured, second: Measured) -> float:
    """How probable so large a difference is by chance, if each label is by itself: McNemar."""
    check_paired(first, second)
    return mcnemar(right(first), right(second))["p"]


def p_of_tags(first: Measured, second: Measured) -> float:
    """The same for tags: a bootstrap over sequences, whose tags depend on each other."""
    check_paired(first, second)
    return paired_bootstrap(right(first), right(second), first["offsets"])["p"]


def counts_in(measured: Measured) -> np.ndarray:
    """(S, 3) spans of each sequence: see `span_counts`."""
    return span_counts(*(measured[key] for key in ("truth", "answers", "offsets", "names")))


def p_of_spans(first: Measured, second: Measured) -> float:
    """The same for the F1 of spans."""
    check_paired(first, second)
    return two_sided(drawn_f1(counts_in(first)) - drawn_f1(counts_in(second)))


# Several models, if other test data had been drawn: (M, R) figures


def drawn_accuracy(several: Sequence[Measured]) -> np.ndarray:
    """The accuracy of labels, each by itself."""
    return drawn_together([right(each) for each in several], np.arange(len(several[0].loss)))


def drawn_tag_accuracy(several: Sequence[Measured]) -> np.ndarray:
    """The accuracy of tags, of whole sequences."""
    return drawn_together([right(each) for each in several], group_starts(several[0]["offsets"]))


def drawn_span_f1(several: Sequence[Measured]) -> np.ndarray:
    """The F1 of spans, of whole sequences."""
    return np.stack([drawn_f1(counts_in(each)) for each in several])


# Checks


def check_labels(column: np.ndarray, labels: int) -> None:
    """An error unless these are numbers of labels."""
    if not np.issubdtype(column.dtype, np.integer) or column.min() < 0 or column.max() >= labels:
        raise DataError(
            f"labels are whole numbers from 0 to {labels - 1}",
            got=column,
            do="Give the number of each name",
        )


def checked_scores(log_probs: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(N, K) numbers, some of which may be minus infinity but not a whole row, and (N,) labels
    below K."""
    log_probs, truth = np.asarray(log_probs, np.float64), np.asarray(truth)
    if log_probs.ndim != 2 or not log_probs.size or truth.shape != log_probs.shape[:1]:
        raise DataError(
            "log-probabilities are examples x labels, with one true label for each example",
            got=f"{log_probs.shape}, {truth.shape}",
        )
    if not np.isfinite(log_probs.max(1)).all():
        raise DataError(
            "log-probabilities are numbers", got=log_probs[~np.isfinite(log_probs.max(1))]
        )
    check_labels(truth, log_probs.shape[1])
    return log_probs, truth
