"""How far word vectors can be trusted: on a file of analogies, or of similarities as people see them.

A question is scored as word2vec and gensim score it: only the first `most` words are candidates, and
a question with a word that is not among them is not asked but counted in the coverage. Shapes: Q
questions or pairs in a file, P pairs asked, R resamples, G groups of equal values.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from seriatim.errors import ConfigError
from seriatim.measuring.measured import Measured
from seriatim.measuring.resampling import RESAMPLES, resample
from seriatim.tasks.words.questions import begins_with_a_section, read_pairs, read_questions
from seriatim.tasks.words.space import WordSpace, check_method

ANALOGIES, SIMILARITY = "analogies", "similarity"


def evaluate(
    words: WordSpace,
    path: str | Path,
    most: int = 30_000,
    method: str = "add",
    column: str | None = None,
) -> dict[str, Any]:
    """The figures on a file of either kind."""
    return summarise(measure(words, path, most, method, column))


def measure(
    words: WordSpace,
    path: str | Path,
    most: int = 30_000,
    method: str = "add",
    column: str | None = None,
) -> Measured:
    """On a file of analogies, whose first line names a section, or of similarities, the scores in a
    `column`."""
    if not begins_with_a_section(str(path)):
        return measure_similarity(words, path, column=column)
    if column:
        raise ConfigError("analogies have no columns", got=column, do="Leave out --column")
    return measure_analogies(words, path, most, method)


def summarise(measured: Measured) -> dict[str, Any]:
    """The figures of what was measured, by its kind of questions."""
    return SUMMARIES[measured["questions_are"]](measured)


# -- analogies
def measure_analogies(
    words: WordSpace, path: str | Path, most: int | None = 30_000, method: str = "add"
) -> Measured:
    """The answer to each question of a file: ": section" lines, then four words a line."""
    begin, most = time.perf_counter(), words.check_most(most)
    check_method(method)
    names, section, asked_words = read_questions(str(path))
    found = {word: words.find(word, most) for word in {*asked_words}}
    rows = {word: -1 if row is None else row for word, row in found.items()}
    questions = np.array([rows[word] for word in asked_words]).reshape(-1, 4)  # (Q, 4)
    known = (questions >= 0).all(1)  # (Q,)
    answers = np.full(len(questions), -1)
    answers[known] = words.analogies(questions[known, :3], method, most)
    right = known & (answers == questions[:, 3])
    arrays = {"loss": 1.0 - right, "known": known, "right": right, "section": section}
    facts = {
        "questions_are": ANALOGIES,
        "data": str(path),
        "method": method,
        "most": most,
        "sections": names,
        "truth": asked_words[3::4],
        "answers": [words.words[row] if row >= 0 else None for row in answers.tolist()],
        "seconds": time.perf_counter() - begin,
    }
    return Measured(arrays, facts)


def summarise_analogies(measured: Measured) -> dict[str, Any]:
    """The share of the questions that are answered rightly, in all and by section."""
    right, known, section = measured["right"], measured["known"], measured["section"]
    most, names = measured["most"], measured["sections"]
    grammar = np.array([name.startswith("gram") for name in names], bool)
    syntactic: np.ndarray = np.take(grammar, section)  # (Q,)
    correct, asked = int(right.sum()), int(known.sum())
    bounds: list[float | None] = [None, None]
    notes = []
    if asked:  # right or wrong: resampling them is drawing binomially
        draws = np.random.default_rng(0).binomial(asked, correct / asked, RESAMPLES)
        bounds = np.quantile(draws / asked, [0.025, 0.975]).tolist()
    else:
        notes.append(f"no question was asked: of none are all four words among the first {most:,}")
    return {
        "questions_are": ANALOGIES,
        "method": measured["method"],
        "accuracy": share(right, known),
        "interval": {"confidence": 0.95, "accuracy": bounds},
        "correct": correct,
        "asked": asked,
        "questions": len(right),
        "coverage": asked / len(right),
        "most": most,
        "semantic": share(right, known & ~syntactic),
        "syntactic": share(right, known & syntactic),
        "sections": [
            {
                "section": name,
                "accuracy": share(right, known & (section == number)),
                "correct": int(right[section == number].sum()),
                "asked": int(known[section == number].sum()),
                "questions": int((section == number).sum()),
            }
            for number, name in enumerate(names)
        ],
        "notes": notes,
        "seconds": measured["seconds"],
    }


# -- similarities
def measure_similarity(
    words: WordSpace, path: str | Path, most: int | None = None, column: str | None = None
) -> Measured:
    """The cosine of each pair of a file of word, word, score, with commas, tabs or blanks between."""
    begin, most = time.perf_counter(), words.check_most(most)
    pairs = read_pairs(str(path), column or None)
    first, second, scores = [], [], []
    for one, other, score in pairs:
        rows = words.find(one, most), words.find(other, most)
        if rows[0] is not None and rows[1] is not None:
            first.append(rows[0])
            second.append(rows[1])
            scores.append(score)
    cosines = (words.unit[first] * words.unit[second]).sum(1)  # (P,)
    arrays = {"loss": -cosines, "truth": np.array(scores), "answers": cosines}
    facts = {
        "questions_are": SIMILARITY,
        "data": str(path),
        "most": most,
        "pairs": len(pairs),
        "seconds": time.perf_counter() - begin,
    }
    return Measured(arrays, facts)


def summarise_similarity(measured: Measured) -> dict[str, Any]:
    """Spearman's correlation of cosines with human scores."""
    scores, cosines = measured["truth"], measured["answers"]
    asked, most = len(scores), measured["most"]
    correlation: float | None = None
    bounds: list[float | None] = [None, None]
    notes = []
    if asked > 1:
        together = float(spearman(cosines, scores)[0])
        correlation = together if np.isfinite(together) else None
    if correlation is not None:
        drawn = spearman(cosines, scores, resample(asked))  # (R,)
        drawn = drawn[np.isfinite(drawn)]  # a pair drawn again and again has no correlation
        bounds = np.quantile(drawn, [0.025, 0.975]).tolist()
    else:
        notes.append(
            f"no correlation: pairs with both words among the first {most:,} are {asked}, "
            "and two that differ are needed"
        )
    return {
        "questions_are": SIMILARITY,
        "spearman": correlation,
        "interval": {"confidence": 0.95, "spearman": bounds},
        "pairs": measured["pairs"],
        "asked": asked,
        "coverage": asked / measured["pairs"],
        "most": most,
        "notes": notes,
        "seconds": measured["seconds"],
    }


SUMMARIES = {ANALOGIES: summarise_analogies, SIMILARITY: summarise_similarity}


# -- statistics
def share(right: np.ndarray, known: np.ndarray) -> float | None:
    """The share of right answers among the questions that were asked; None where none was."""
    return float(right[known].mean()) if known.any() else None


def spearman(first: np.ndarray, second: np.ndarray, times: np.ndarray | None = None) -> np.ndarray:
    """(P,), (P,) -> (R,) the correlation of ranks when each pair occurs (R, P) times; nan where all
    values of a side are equal."""
    times = np.ones((1, len(first)), np.int64) if times is None else times
    middle = (times.sum(1, keepdims=True) + 1) / 2  # (R, 1) the mean of the ranks
    x, y = ranks(first, times) - middle, ranks(second, times) - middle  # (R, P)
    with np.errstate(invalid="ignore"):
        return (times * x * y).sum(1) / np.sqrt((times * x * x).sum(1) * (times * y * y).sum(1))


def ranks(values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """(P,) values, each of which occurs (R, P) times -> (R, P) ranks from 1; equal values share the
    mean of their ranks.

    >>> ranks(np.array([7, 5, 7, 9]), np.ones((1, 4))).tolist()
    [[2.5, 1.0, 2.5, 4.0]]
    """
    order = np.argsort(values, kind="stable")
    _, begin, group = np.unique(values[order], return_index=True, return_inverse=True)
    together = np.add.reduceat(times[:, order], begin, axis=1)  # (R, P) -> (R, G)
    mean = np.cumsum(together, 1) - (together - 1) / 2  # (R, G)
    found = np.empty(times.shape)
    found[:, order] = mean[:, group]
    return found
