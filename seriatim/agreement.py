"""How far found labels, tags, spans and values agree with the true ones, and how sure that is: arrays in, plain records out.

    precision, recall, F1   right / found,  right / true,  2 right / (found + true)
    Matthews' correlation   (N right - sum_k true_k found_k) / sqrt((N² - sum_k true_k²) (N² - sum_k found_k²))     Gorodkin 2004
    Wilson's interval       (p + z²/2N ± z sqrt(p (1 - p) / N + z²/4N²)) / (1 + z²/N),  z = 1.96                     Wilson 1927
    calibration error       sum over bins of  count / N  |accuracy - confidence|                                      Guo et al. 2017
    R²                      1 - sum (y - m)² / sum (y - mean y)²,  y the true values and m those said
    McNemar's test          the labels that one model alone has right are tosses of a fair coin                       McNemar 1947

A quotient whose divisor is 0 (precision of a label that was never found) is 0, as with scikit-learn's zero_division=0.
Shapes: N examples, K labels, T thresholds, G groups that are drawn together, R resamples.
"""
from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from seriatim.errors import ConfigError, DataError

Record = dict[str, Any]
Span = tuple[int, int, str]               # begin, end (one behind the last element), type

MOST_GROUPS, RESAMPLES = 2000, 1000
NORMAL = 1.959963984540054                # 95 % of a normal distribution lie within so many standard deviations
HOTTEST = 1000.0                          # temperatures are looked for between its inverse and itself
SCHEMES = {"O", "B", "I", "E", "S"}       # outside, begin, inside, end, single


# Labels


def confusion(truth: np.ndarray, found: np.ndarray, labels: int) -> np.ndarray:
    """(N,), (N,) numbers of labels below K -> (K, K) how often each true label (row) was found to be each label (column)."""
    truth, found = side_by_side(truth, found)
    for column in (truth, found):
        check_labels(column, labels)
    return np.bincount(truth.astype(np.int64) * labels + found, minlength=labels * labels).reshape(labels, labels)


def report(truth: np.ndarray, found: np.ndarray, names: Sequence[str]) -> Record:
    """Every figure of (N,) found labels against (N,) true ones. What is undefined is 0; macro is the mean over labels that are true or found.

    >>> figures = report(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]), ["ham", "spam"])
    >>> figures["accuracy"], figures["confusion"], figures["classes"][1]["precision"]
    (0.75, [[2, 1], [0, 1]], 0.5)
    """
    table = confusion(truth, found, len(names))                                                 # (K, K)
    right, called, true = table.diagonal().tolist(), table.sum(0).tolist(), table.sum(1).tolist()
    count, correct = sum(true), sum(right)
    classes = [{"name": name, **quotients(*counts), "support": counts[2]} for name, *counts in zip(names, right, called, true, strict=True)]
    seen = [each for each, *counts in zip(classes, called, true) if any(counts)]
    return {"kind": "labels", "count": count, "accuracy": correct / count, "interval": list(wilson(correct, count)), "majority": max(true) / count,
            "macro": {name: sum(each[name] for each in seen) / len(seen) for name in ("precision", "recall", "f1")},
            "micro": quotients(correct, count, count), "weighted_f1": sum(each["f1"] * each["support"] for each in classes) / count,
            "matthews": matthews(correct, called, true), "classes": classes, "confusion": table.tolist()}


def quotients(right: int, found: int, true: int) -> dict[str, float]:
    return {"precision": ratio(right, found), "recall": ratio(right, true), "f1": ratio(2 * right, found + true)}


def ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def matthews(correct: int, found: Sequence[int], true: Sequence[int]) -> float:
    """The correlation of (K,) counts of found and true labels, `correct` of which agree; 0 where all are found, or are, the same."""
    count = sum(true)
    spread = (count ** 2 - sum(n * n for n in true)) * (count ** 2 - sum(n * n for n in found))
    return ratio(count * correct - sum(f * t for f, t in zip(found, true)), math.sqrt(spread))


def wilson(correct: int, count: int) -> tuple[float, float]:
    """95 % interval of a share; unlike p ± 1.96 sqrt(p (1 - p) / N) it stays between 0 and 1, and is right where p is near them."""
    share, squared = correct / count, NORMAL ** 2 / count
    middle, half = share + squared / 2, math.sqrt(share * (1 - share) * squared + squared ** 2 / 4)
    return max(0.0, (middle - half) / (1 + squared)), min(1.0, (middle + half) / (1 + squared))


# Probabilities


def calibration(log_probs: np.ndarray, truth: np.ndarray, bins: int = 15) -> Record:
    """Whether (N, K) log-probabilities mean what they say: of labels found with probability 0.8, are 80 % right?

    `bins` are of equal width, their means None where they are empty; `brier` is the sum over labels (0 to 2, Brier 1950), and
    `log_loss` None where a true label has probability 0.
    """
    log_probs, truth = checked_scores(log_probs, truth)
    probs, own = np.exp(log_probs), log_probs[np.arange(len(truth)), truth]                     # (N, K), (N,)
    if bins < 1:
        raise ConfigError("at least one bin is needed", got=bins)
    if not (abs(probs.sum(1) - 1) < 1e-3).all():
        raise DataError("the probabilities of an example sum to one", got=probs.sum(1), do="Give log-probabilities: cooled(scores, 1.0) makes them")
    confidence, right = probs.max(1), probs.argmax(1) == truth
    place = np.clip(np.ceil(confidence * bins).astype(int) - 1, 0, bins - 1)                    # (N,) a bin holds its upper end
    sums = [np.bincount(place, weights, bins).tolist() for weights in (confidence, right, None)]
    filled = [{"confidence": sure / n if n else None, "accuracy": hits / n if n else None, "count": int(n)} for sure, hits, n in zip(*sums)]
    return {"kind": "calibration", "log_loss": -float(own.mean()) if np.isfinite(own).all() else None,
            "error": sum(abs(hits - sure) for sure, hits, _ in zip(*sums)) / len(truth),
            "brier": float(((probs ** 2).sum(1) - 2 * np.exp(own) + 1).mean()), "bins": filled}


def cooled(log_probs: np.ndarray, t: float) -> np.ndarray:
    """(N, K) -> (N, K) log softmax(log_probs / t): surer below a temperature of 1, less sure above."""
    if not 0 < t < math.inf:
        raise ConfigError("a temperature is a number above 0", got=t)
    scaled = np.asarray(log_probs, np.float64) / t
    scaled = scaled - scaled.max(-1, keepdims=True)
    return scaled - np.log(np.exp(scaled).sum(-1, keepdims=True))


def temperature(log_probs: np.ndarray, truth: np.ndarray) -> float:
    """The temperature that minimises the log loss of (N, K) log-probabilities, by bisection of its slope (Guo et al. 2017).

    The loss is convex in 1 / t. No temperature saves a true label of probability 0, so such examples are left out.
    """
    log_probs, truth = checked_scores(log_probs, truth)
    own = log_probs[np.arange(len(truth)), truth]                                               # (N,)
    possible = np.isfinite(own)
    if not possible.any():
        return 1.0
    log_probs, own = log_probs[possible], own[possible]
    values = np.where(np.isfinite(log_probs), log_probs, 0.0)                                   # what is impossible has no part in the mean
    low, high = 1 / HOTTEST, HOTTEST
    for _ in range(50):
        t = math.sqrt(low * high)
        expected = (np.exp(cooled(log_probs, t)) * values).sum(1)                               # (N,)
        slope = float((expected - own).mean())                                                  # d loss / d (1 / t)
        if abs(slope) < 1e-12:
            break
        low, high = (t, high) if slope > 0 else (low, t)
    return t


# Thresholds, for two classes


def threshold(scores: np.ndarray, positive: np.ndarray, most_false: float) -> Record:
    """The lowest threshold with which at most the share `most_false` of the negatives is called positive: of a score at or above it.

    >>> threshold(np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, False, True, False]), most_false=0.5)
    {'threshold': 0.7, 'recall': 1.0, 'precision': 0.6666666666666666, 'false': 0.5}
    """
    if not 0 <= most_false <= 1:
        raise ConfigError("a share lies between 0 and 1", got=most_false, do="Write 0.001 for 0.1 %")
    bounds, true, false = curve(scores, positive)                                               # (T,) each
    allowed = np.flatnonzero(false <= most_false * false[-1] + 1e-9)
    if not len(allowed):                                                                        # the highest score is a negative's
        return {"threshold": float(np.nextafter(bounds[0], np.inf)), "recall": 0.0, "precision": 0.0, "false": 0.0}
    lowest = allowed[-1]
    right, wrong = int(true[lowest]), int(false[lowest])
    return {"threshold": float(bounds[lowest]), "recall": right / int(true[-1]), "precision": right / (right + wrong), "false": wrong / int(false[-1])}


def area(scores: np.ndarray, positive: np.ndarray) -> dict[str, float]:
    """The area under the curve of recall over the share of false alarms, and average precision, sum (recall_t - recall_t-1) precision_t."""
    _, true, false = curve(scores, positive)                                                    # (T,) each
    under = np.trapezoid(np.append(0, true), np.append(0, false))
    precise = (np.diff(true, prepend=0) * true / (true + false)).sum()
    return {"roc": float(under / true[-1] / false[-1]), "average_precision": float(precise / true[-1])}


def curve(scores: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(N,), (N,) -> (T,) different scores, the highest first, and how many positives and negatives score so high at least."""
    scores, positive = side_by_side(scores, positive)
    positive = positive.astype(bool)
    if positive.all() or not positive.any():
        raise DataError("examples of both classes are needed", got=f"{positive.sum()} positive, {(~positive).sum()} negative",
                        do="Choose the threshold on data that holds both")
    if not (scores < np.inf).all():
        raise DataError("scores are numbers", got=scores[~(scores < np.inf)])
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    last = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(ordered) - 1)             # (T,) of equal scores
    true = np.cumsum(positive[order])[last]
    return ordered[last], true, last + 1 - true


# Two models on the same examples


def mcnemar(first_right: np.ndarray, second_right: np.ndarray) -> Record:
    """Whether two models differ where one alone is right: p of the exact two-sided binomial test."""
    first, second = (column.astype(bool) for column in side_by_side(first_right, second_right))
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    fewer, count = min(only_first, only_second), only_first + only_second
    places = np.arange(1, fewer + 1)
    log_ways = np.append(0.0, np.cumsum(np.log((count + 1 - places) / places)))                 # (fewer + 1,) log of count over i
    log_p = float(np.logaddexp.reduce(log_ways)) - (count - 1) * math.log(2)
    return {"only_first": only_first, "only_second": only_second, "p": math.exp(min(0.0, log_p))}


def paired_bootstrap(first: np.ndarray, second: np.ndarray, groups: np.ndarray | None = None) -> Record:
    """The mean of (N,) `first` minus that of (N,) `second`, with its 95 % interval and two-sided p.

    `groups`: (G + 1,) offsets of what is drawn together, such as the tokens of a sentence; None draws each example by itself.
    """
    first, second = (column.astype(np.float64) for column in side_by_side(first, second))
    offsets = np.arange(len(first) + 1) if groups is None else np.asarray(groups)
    if offsets[0] != 0 or offsets[-1] != len(first) or (np.diff(offsets) < 0).any():
        raise DataError(f"offsets rise from 0 to the number of examples, {len(first)}", got=offsets)
    draws = drawn_means(sums_between(first - second, np.unique(offsets[offsets < len(first)])))     # (R,)
    return {"difference": float((first - second).mean()), "interval": np.quantile(draws, [0.025, 0.975]).tolist(), "p": two_sided(draws)}


def two_sided(draws: np.ndarray) -> float:
    """(R,) differences, as drawn -> how probable one this far from zero is if there is none."""
    return min(1.0, 2 * (int(min((draws <= 0).sum(), (draws >= 0).sum())) + 1) / (len(draws) + 1))


def sums_between(values: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """(N,) values, (G,) where groups begin -> (G, 2) sums and numbers of values; neighbours join where there are over MOST_GROUPS."""
    cuts = cuts[::max(1, len(cuts) // MOST_GROUPS)]
    return np.stack([np.add.reduceat(values, cuts), np.diff(np.append(cuts, len(values)))], 1)


def resample(groups: int, seed: int = 0, samples: int = RESAMPLES) -> np.ndarray:
    """(R, G) how often each group is drawn: the same draws for every model, so that they can be paired."""
    return np.random.default_rng(seed).multinomial(groups, np.full(groups, 1 / groups), samples)


def drawn_means(groups: np.ndarray) -> np.ndarray:
    """(G, 2) sums and numbers of values -> (R,) the mean of all values, if other groups had been drawn."""
    sums = resample(len(groups)) @ groups                                                       # (R, 2)
    return sums[:, 0] / sums[:, 1]


def interval(groups: np.ndarray) -> tuple[float, float]:
    """95 % interval of the mean of all values."""
    low, high = np.quantile(drawn_means(groups), [0.025, 0.975])
    return float(low), float(high)


# Spans


def spans(tags: Sequence[str]) -> set[Span]:
    """The spans that tags mark, as IOB1, IOB2 or BIOES, by the rules of conlleval: an I- or E- that continues nothing begins a span.

    >>> sorted(spans(["B-PER", "I-PER", "O", "I-ORG", "B-ORG"]))
    [(0, 2, 'PER'), (3, 4, 'ORG'), (4, 5, 'ORG')]
    """
    found, begin, kind, before = set(), 0, "", "O"
    for place, tag in enumerate([*tags, "O"]):
        scheme, _, name = tag.partition("-")
        if scheme not in SCHEMES:
            raise DataError("a tag that marks spans is O, or B-, I-, E- or S- and a type", got=repr(tag), do="Score other tags with `report`")
        if not (scheme in ("I", "E") and before in ("B", "I") and name == kind):                # it does not continue
            if before != "O":
                found.add((begin, place, kind))
            begin, kind = place, name
        before = scheme
    return found


def span_report(truth: Sequence[Sequence[str]], found: Sequence[Sequence[str]]) -> Record:
    """Precision, recall and F1 of whole spans, overall and by type: right is a span of the right type that begins and ends where it should."""
    lengths = [[len(tags) for tags in rows] for rows in (truth, found)]
    if lengths[0] != lengths[1]:
        raise DataError("every sequence needs as many found tags as true ones", got=f"{sum(lengths[0])} true, {sum(lengths[1])} found")
    true, called = ({(s, *span) for s, tags in enumerate(rows) for span in spans(tags)} for rows in (truth, found))
    by_type = [Counter(kind for *_, kind in some) for some in (true & called, called, true)]
    types = [{"name": kind, **quotients(*(count[kind] for count in by_type)), "support": by_type[2][kind]} for kind in sorted({*by_type[1], *by_type[2]})]
    return {"kind": "spans", **quotients(len(true & called), len(called), len(true)), "support": len(true), "found": len(called), "types": types}


# Values


def value_report(truth: np.ndarray, mean: np.ndarray, deviation: np.ndarray, floor: float, within: float) -> Record:
    """Every figure of (N,) normal distributions against (N,) true values; `skill` is against always saying `floor`, `coverage` the share of the truth
    no more than so many deviations (`within`) from the mean. What all values being equal leaves undefined is None.

    >>> figures = value_report(np.array([1.0, 3.0]), np.array([1.0, 2.0]), np.ones(2), 1.5, 1.28)
    >>> figures["mae"], figures["r_squared"], figures["skill"], figures["coverage"]
    (0.5, 0.5, 0.5, 1.0)
    """
    truth, mean, deviation = (column.astype(np.float64) for column in side_by_side(truth, mean, deviation))
    absolute, z = np.abs(truth - mean), (truth - mean) / deviation                              # (N,) both
    simple, spread = float(np.abs(truth - floor).mean()), float(((truth - truth.mean()) ** 2).sum())
    nats = z ** 2 / 2 + np.log(deviation) + math.log(2 * math.pi) / 2
    return {"kind": "values", "count": len(truth), "mae": float(absolute.mean()), "rmse": math.sqrt(float((absolute ** 2).mean())),
            "interval": list(interval(sums_between(absolute, np.arange(len(truth))))),
            "r_squared": 1 - float((absolute ** 2).sum()) / spread if spread else None,
            "skill": 1 - float(absolute.mean()) / simple if simple else None, "floor_mae": simple, "nats_per_value": float(nats.mean()),
            "coverage": float((np.abs(z) <= within).mean()), "width": 2 * within * float(deviation.mean())}


# Checks


def side_by_side(*columns: np.ndarray) -> list[np.ndarray]:
    """Columns as arrays: (N,) each, the same N for all and not 0."""
    arrays = [np.asarray(column) for column in columns]
    if len({array.shape for array in arrays}) > 1 or arrays[0].ndim != 1 or not len(arrays[0]):
        raise DataError("one value for each example is compared, and for one example at least", got=f"shapes {[array.shape for array in arrays]}")
    return arrays


def check_labels(column: np.ndarray, labels: int) -> None:
    if not np.issubdtype(column.dtype, np.integer) or column.min() < 0 or column.max() >= labels:
        raise DataError(f"labels are whole numbers from 0 to {labels - 1}", got=column, do="Give the number of each name")


def checked_scores(log_probs: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(N, K) numbers, some of which may be minus infinity but not a whole row, and (N,) labels below K."""
    log_probs, truth = np.asarray(log_probs, np.float64), np.asarray(truth)
    if log_probs.ndim != 2 or not log_probs.size or truth.shape != log_probs.shape[:1]:
        raise DataError("log-probabilities are examples x labels, with one true label for each example", got=f"{log_probs.shape}, {truth.shape}")
    if not np.isfinite(log_probs.max(1)).all():
        raise DataError("log-probabilities are numbers", got=log_probs[~np.isfinite(log_probs.max(1))])
    check_labels(truth, log_probs.shape[1])
    return log_probs, truth
