"""Words as points: which are alike, and what is to king as woman to man. How far such answers can be
trusted: see `seriatim.tasks.words.metrics`.

    neighbours    cos(d, w) = d.w / |d| |w|
    3CosAdd       a : b = c : d,  the d with the largest  cos(d, b) - cos(d, a) + cos(d, c)
                  Mikolov et al. 2013
    3CosMul       the d with the largest  cos'(d, b) cos'(d, c) / (cos'(d, a) + 0.001),
                  cos' = (1 + cos) / 2, Levy and Goldberg 2014

Words come sorted, the most frequent first. The words of a question may not be its answer. A word is
looked up as it is and, if it is not there, lower-cased.

Shapes: N words, D width, Q questions, K some of the words.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from seriatim.errors import ConfigError, DataError, nearest
from seriatim.tasks.words.options import METHODS

Ranking = list[tuple[str, float]]
Sums = list[tuple[list[int], list[int]]]  # rows to add, rows to take away

EPSILON = 0.001  # of 3CosMul, against division by zero
CELLS = 2**23  # cosines that are kept at a time: a table that fits into the cache,
FEWEST = 48  # but at least so many rows
SIGNS = {"+": 0, "-": 1, "−": 1, "–": 1}  # also the minus sign and the dash of some keyboards
SPELLINGS = 100_000  # words among which a misspelt one is looked for


class WordSpace:
    """Words as points: neighbours, analogies, and how far they can be trusted.

    >>> points = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 1], [0, 1, 0]])
    >>> words = WordSpace(["man", "woman", "king", "queen", "cat"], points)
    >>> words.analogy(["king", "woman"], ["man"], top=1)[0][0], words.neighbours("woman")[0][0]
    ('queen', 'queen')
    >>> words.odd_one_out(["man", "cat", "king"])[0]
    'cat'
    """

    def __init__(self, words: Sequence[str], vectors: np.ndarray):
        self.words = list(words)
        self.number = {word: row for row, word in enumerate(self.words)}
        try:
            with np.errstate(over="ignore"):
                self.vectors = np.ascontiguousarray(vectors, np.float32)  # (N, D)
        except (TypeError, ValueError) as error:
            raise DataError(
                "vectors are numbers, the same number of them for every word",
                got=error,
                do="Give an array of words x width",
            ) from None
        if (
            self.vectors.ndim != 2
            or self.vectors.shape[0] != len(self.words)
            or not self.vectors.size
        ):
            raise DataError(
                "every word needs one vector",
                got=f"{len(self.words)} words and an array of shape {self.vectors.shape}",
                do="Give at least one word, and an array of words x width",
            )
        if len(self.number) < len(self.words):
            twice = next(word for row, word in enumerate(self.words) if self.number[word] != row)
            raise DataError("a word has two vectors", got=repr(twice), do="Keep the first of them")
        if not np.isfinite(self.vectors).all():
            worst = int(np.argmin(np.isfinite(self.vectors).all(1)))
            raise DataError(
                f"the vector of {self.words[worst]!r} has values that are not numbers",
                got=self.vectors[worst],
                do="Leave the word out",
            )
        self.unit = unit(self.vectors)  # (N, D), of length 1

    # Looking up

    def find(self, word: str, most: int | None = None) -> int | None:
        """The row of a word among the first `most`: as it is, else lower-cased, else None."""
        for spelled in (word, word.lower()):
            row = self.number.get(spelled)
            if row is not None and (most is None or row < most):
                return row
        return None

    def rows(self, words: str | Iterable[str]) -> list[int]:
        """The rows of words; an error that names the nearest spelling where one is unknown."""
        found = []
        for word in [words] if isinstance(words, str) else words:
            row = self.find(word)
            if row is None:
                raise DataError(
                    "there is no vector for this word", got=repr(word), do=self.spelling(word)
                )
            found.append(row)
        return found

    def spelling(self, word: str) -> str:
        """A hint: the word that is spelt most like one that is unknown."""
        alike = {
            known.lower(): known
            for known in reversed(self.words[:SPELLINGS])
            if abs(len(known) - len(word)) <= 2
        }
        close = difflib.get_close_matches(word.lower(), alike, n=1, cutoff=0.6)
        return (
            f"Did you mean {alike[close[0]]!r}?"
            if close
            else f"There are {len(self.words):,} words, for instance {', '.join(self.words[:5])}"
        )

    def vector(self, word: str) -> np.ndarray:
        """(D,) the vector of a word, as it was given."""
        return self.vectors[self.rows(word)[0]]

    # Asking

    def neighbours(
        self, word: str | np.ndarray, top: int = 10, without: Sequence[str] = ()
    ) -> Ranking:
        """The words with the largest cosine to a word, or to a vector; the word itself is left out,
        and those of `without` if they are there."""
        left_out = [
            self.find(each) for each in ([without] if isinstance(without, str) else without)
        ]
        if isinstance(word, str):
            row = self.rows(word)[0]
            return self.best(self.unit @ self.unit[row], top, [row, *left_out])  # (N,)
        point = np.asarray(word, np.float32)
        if point.shape != self.unit.shape[1:] or not np.isfinite(point).all():
            raise DataError(
                f"a vector here has {self.unit.shape[1]} numbers",
                got=f"{point.shape}: {point}",
                do="Give a word, or a vector of that width",
            )
        return self.best(self.unit @ unit(point), top, left_out)

    def analogy(
        self, plus: Sequence[str], minus: Sequence[str], top: int = 10, method: str = "add"
    ) -> Ranking:
        """What is like the words of `plus` and unlike those of `minus`; none of these is an answer.

        The score of "add" is the cosine to the sum of the unit vectors, that of "mul" the product
        over `plus` of cos' divided by the product over `minus` of (cos' + 0.001).
        """
        return self.answers([(plus, minus)], top, method)[0]

    def answers(
        self,
        sums: Sequence[tuple[Sequence[str], Sequence[str]]],
        top: int = 10,
        method: str = "add",
    ) -> list[Ranking]:
        """The same for many sums; the cosines of a block of them with all words are one matrix
        product."""
        check_method(method)
        asked: Sums = [(self.rows(plus), self.rows(minus)) for plus, minus in sums]
        if not all(plus or minus for plus, minus in asked):
            raise ConfigError(
                "no word was given", do='Give at least one, for instance "paris - france + japan"'
            )
        found: list[Ranking] = []
        step = max(1, CELLS // len(self.words))
        for begin in range(0, len(asked), step):
            block = asked[begin : begin + step]
            scores = self.added(block) if method == "add" else self.multiplied(block)  # (Q, N)
            for row, (plus, minus) in zip(scores, block, strict=True):
                found.append(self.best(row, top, [*plus, *minus]))
        return found

    def added(self, sums: Sums) -> np.ndarray:
        """(Q, N) 3CosAdd: cosine of every word with each sum of words."""
        points = np.stack(
            [self.unit[plus].sum(0) - self.unit[minus].sum(0) for plus, minus in sums]
        )
        return unit(points) @ self.unit.T  # (Q, D) @ (D, N) -> (Q, N)

    def multiplied(self, sums: Sums) -> np.ndarray:
        """(Q, N) 3CosMul: the product of cosines with what is added over that with what is taken
        away."""
        place = {
            row: k
            for k, row in enumerate(
                dict.fromkeys(row for both in sums for side in both for row in side)
            )
        }
        table = (1 + self.unit[list(place)] @ self.unit.T) / 2  # (K, D) @ (D, N) -> (K, N)
        sides = (
            (table[[place[row] for row in plus]], table[[place[row] for row in minus]])
            for plus, minus in sums
        )
        return np.stack(
            [alike.prod(0) / (unlike + np.float32(EPSILON)).prod(0) for alike, unlike in sides]
        )

    def odd_one_out(self, words: Sequence[str]) -> tuple[str, Ranking]:
        """The word with the smallest cosine to the mean of the others' unit vectors; and all of
        them with theirs, the least alike first."""
        rows = list(dict.fromkeys(self.rows(words)))
        if len(rows) < 3:
            raise ConfigError(
                "the odd one is found among three words or more",
                got=", ".join([words] if isinstance(words, str) else words),
                do="Give three different words or more",
            )
        points = self.unit[rows]  # (number of words, D)
        alike = (points * unit(points.sum(0) - points)).sum(1)  # (number of words,)
        ranking = [
            (self.words[rows[place]], float(alike[place]))
            for place in np.argsort(alike, kind="stable")
        ]
        return ranking[0][0], ranking

    def direction(self, pairs: Sequence[tuple[str, str]], word: str, top: int = 10) -> Ranking:
        """Where the mean way from the first to the second word of the pairs leads from a third
        word; none of these words is an answer."""
        if not len(pairs) or any(isinstance(pair, str) or len(pair) != 2 for pair in pairs):
            raise ConfigError(
                "a direction takes one or more pairs of words",
                got=list(pairs),
                do='For instance [("man", "woman"), ("king", "queen")]',
            )
        first, second = (self.rows(side) for side in zip(*pairs))
        row = self.rows(word)[0]
        point = self.unit[row] + (self.unit[second] - self.unit[first]).mean(0)  # (D,)
        return self.best(self.unit @ unit(point), top, [row, *first, *second])

    def best(self, scores: np.ndarray, top: int, left_out: Collection[int | None]) -> Ranking:
        """The words with the `top` largest of (N,) scores, equal ones in the order of the words."""
        if top < 1:
            raise ConfigError(
                "at least one word is shown", got=top, do="Choose a --top of 1 or more"
            )
        allowed = np.ones(len(scores), bool)
        allowed[[row for row in left_out if row is not None]] = False
        rows = np.flatnonzero(allowed)
        if top < len(rows):  # sort those only that come into question
            rows = rows[scores[rows] >= np.partition(scores[rows], -top)[-top]]
        rows = rows[np.argsort(-scores[rows], kind="stable")][:top]
        return [(self.words[row], float(scores[row])) for row in rows.tolist()]

    def map(
        self, groups: Sequence[Sequence[str]] | None = None, plane: str = "pca", most: int = 200
    ) -> dict[str, Any]:
        """Words in a plane: where each lies, and an arrow for each group that is a pair; without
        groups the most frequent words."""
        if plane not in PLANES:
            raise ConfigError("unknown way to make a map", got=plane, do=nearest(plane, PLANES))
        asked = [[word] for word in self.words[:most]] if groups is None else groups
        rows = [self.rows(group) for group in asked]
        place = {row: number for number, row in enumerate(dict.fromkeys(chain(*rows)))}
        if len(place) < 4:
            raise ConfigError(
                "a map has four words or more",
                got=f"{len(place)}",
                do='For instance "paris france, tokyo japan"',
            )
        pairs = [[place[row] for row in group] for group in rows if len(group) == 2]
        arrows = np.array(pairs, np.int64).reshape(-1, 2)
        wide = np.pad(self.unit[list(place)], ((0, 0), (0, 1)))  # (K, D + 1), so two at least
        points, shares = PLANES[plane](wide)  # (K, 2)
        ways = points[arrows[:, 1]] - points[arrows[:, 0]] if len(arrows) else points[:1]
        points = points * np.where(ways.sum(0) < 0, -1, 1)  # most arrows point up and to the right
        return {
            "plane": plane,
            "shares": shares,
            "arrows": arrows.tolist(),
            "points": [
                {"word": self.words[row], "x": x, "y": y}
                for row, (x, y) in zip(place, points.tolist(), strict=True)
            ],
        }

    # Many analogies at a time

    def analogies(
        self, questions: np.ndarray, method: str = "add", most: int | None = None
    ) -> np.ndarray:
        """(Q, 3) rows a, b, c: "a is to b as c is to ?" -> (Q,) rows of the best d among the first
        `most` words, -1 where none is left.

        Questions share words: the cosines of the words of a block with all candidates are one
        matrix product, what a pair a, b gives is computed once for the questions in a row that
        begin with it, and each question then costs one addition and one maximum.
        """
        check_method(method)
        questions = (
            np.asarray(questions, np.int64).reshape(-1, 3)
            if not np.size(questions)
            else np.asarray(questions)
        )
        if (
            questions.ndim != 2
            or questions.shape[1] != 3
            or not np.issubdtype(questions.dtype, np.integer)
        ):
            raise ConfigError(
                "questions are rows of three numbers of words",
                got=f"{questions.dtype} of shape {questions.shape}",
                do="Give (questions, 3)",
            )
        if len(questions) and not 0 <= questions.min() <= questions.max() < len(self.words):
            raise ConfigError(
                f"the numbers of the words are 0 to {len(self.words) - 1}",
                got=f"{questions.min()} to {questions.max()}",
                do="Check them",
            )
        candidates = self.unit[: self.check_most(most)]  # (N, D)
        together, combined = (np.add, np.subtract) if method == "add" else (np.multiply, np.divide)
        answers = np.zeros(len(questions), np.int64)
        of_pair, scores = np.empty((2, len(candidates)), np.float32)  # (N,) each
        for block in blocks(questions, max(FEWEST, CELLS // len(candidates))):
            rows, places = np.unique(questions[block], return_inverse=True)
            table = self.unit[rows] @ candidates.T  # (K, D) @ (D, N) -> (K, N)
            if method == "mul":
                table = (table + 1) / 2
            last = None
            for question, (a, b, c) in enumerate(places.reshape(-1, 3).tolist(), block.start):
                if last != (a, b):
                    combined(
                        table[b],
                        table[a] if method == "add" else table[a] + np.float32(EPSILON),
                        out=of_pair,
                    )
                    last = (a, b)
                together(of_pair, table[c], out=scores)  # (N,)
                for place in (a, b, c):
                    scores[
                        rows[place] : rows[place] + 1
                    ] = -np.inf  # a slice: nothing happens beyond the candidates
                answers[question] = scores.argmax()
        answers[(answers[:, None] == questions).any(1)] = -1
        return answers

    def check_most(self, most: int | None) -> int:
        """How many words are candidates."""
        if most is not None and most < 1:
            raise ConfigError(
                "at least one word is a candidate", got=most, do="Choose a --most of 1 or more"
            )
        return len(self.words) if most is None else min(most, len(self.words))


# Sums and signs


def parse_analogy(text: str) -> tuple[list[str], list[str]]:
    """The words to add and those to take away. A sign stands between blanks, or at the beginning: a
    hyphen inside a word is no minus.

    >>> parse_analogy("paris - france + japan"), parse_analogy("-sea + well-known")
    ((['paris', 'japan'], ['france']), (['well-known'], ['sea']))
    """
    example = 'For instance "paris - france + japan"'
    pieces = text.split()
    if not pieces:
        raise ConfigError("there is no word", got=repr(text), do=example)
    if pieces[0][0] in SIGNS and len(pieces[0]) > 1:
        pieces[:1] = [pieces[0][0], pieces[0][1:]]
    if pieces[0] not in SIGNS:
        pieces.insert(0, "+")
    sides: tuple[list[str], list[str]] = ([], [])
    for place, piece in enumerate(pieces):
        if place % 2 == 0 and piece not in SIGNS:
            raise ConfigError(
                f"there is no sign between {pieces[place - 1]!r} and {piece!r}",
                got=text,
                do=f"Put + or - there, blanks around it. {example}",
            )
        if place % 2 == 1 and piece in SIGNS:
            raise ConfigError(
                f"there is no word between {pieces[place - 1]!r} and {piece!r}",
                got=text,
                do=f"Put a word there or leave out a sign. {example}",
            )
        if place % 2 == 1:
            sides[SIGNS[pieces[place - 1]]].append(piece)
    if len(pieces) % 2:
        raise ConfigError(
            f"there is no word after the last {pieces[-1]!r}",
            got=text,
            do=f"Put a word there or leave the sign out. {example}",
        )
    return sides


def parse_direction(text: str) -> tuple[list[tuple[str, str]], str]:
    """The pairs, and the word to go on from.

    >>> parse_direction("man king, uncle prince : woman")
    ([('man', 'king'), ('uncle', 'prince')], 'woman')
    """
    before, _, word = text.rpartition(":")
    pairs = [pair.split() for pair in before.split(",")]
    if len(word.split()) != 1 or any(len(pair) != 2 for pair in pairs):
        raise ConfigError(
            "a direction is pairs of words and a word to go on from",
            got=repr(text),
            do='For instance "man king, uncle prince : woman"',
        )
    return [(first, second) for first, second in pairs], word.strip()


def unit(vectors: np.ndarray) -> np.ndarray:
    """(..., D) -> (..., D) of length 1, whatever their size; a vector of zeros stays one."""
    largest = np.abs(vectors).max(
        -1, keepdims=True
    )  # squares of tiny or huge numbers are not exact
    vectors = vectors / np.where(largest > 0, largest, np.float32(1))
    return vectors / np.maximum(
        np.sqrt((vectors * vectors).sum(-1, keepdims=True)), np.float32(1e-12)
    )


def check_method(method: str) -> None:
    """An error that names the nearest method if there is none of this name."""
    if method not in METHODS:
        raise ConfigError("unknown method", got=method, do=nearest(method, METHODS))


def blocks(questions: np.ndarray, most_words: int) -> Iterator[slice]:
    """Slices of (Q, 3) questions, one after another, with `most_words` different words at most in
    each (but one question at least)."""
    begin = 0
    seen: set[int] = set()
    for place, question in enumerate(questions.tolist()):
        if place > begin and len(seen) + len(set(question) - seen) > most_words:
            yield slice(begin, place)
            begin, seen = place, set()
        seen.update(question)
    if len(questions):
        yield slice(begin, len(questions))


# From a space to a plane


def principal_components(points: np.ndarray) -> tuple[np.ndarray, list[float]]:
    """(K, D) -> (K, 2) along the two directions in which they differ most (Pearson 1901), and the
    share of the variance in each."""
    left, size, _ = np.linalg.svd(points - points.mean(0), full_matrices=False)
    return (left * size)[:, :2], (size**2 / max(float((size**2).sum()), 1e-12))[:2].tolist()


def stochastic_neighbours(points: np.ndarray) -> tuple[np.ndarray, None]:
    """(K, D) -> (K, 2) such that near words stay near (t-SNE, van der Maaten and Hinton 2008); far
    ones may lie anywhere."""
    from sklearn.manifold import TSNE  # type: ignore[import-untyped]  # has no stubs

    return TSNE(
        perplexity=min(30.0, (len(points) - 1) / 3), init="pca", random_state=0
    ).fit_transform(points), None


PLANES = {"pca": principal_components, "tsne": stochastic_neighbours}
