"""A Predictor of word vectors: neighbours, analogies, missing words, files in and out.

model = fit("words", "skip-gram", "wiki.txt")
model.neighbours("king")
model.analogy("paris - france + japan")
model.evaluate("questions-words.txt")
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch

from seriatim.codecs.options import CodecOptions
from seriatim.codecs.symbols import SPECIALS, Tokens
from seriatim.data.files import lines_of
from seriatim.data.objects import at_hand, is_file
from seriatim.data.pickles import PickleError
from seriatim.data.sequences import TEXT, Sequences
from seriatim.errors import ConfigError, DataError, RunError, SeriatimError
from seriatim.measuring.measured import Measured
from seriatim.models.ladder import create
from seriatim.records import Record
from seriatim.runs.predictor import Predictor, Source
from seriatim.settings import build
from seriatim.tasks.words import TASK
from seriatim.tasks.words.files import read_vectors, write_vectors
from seriatim.tasks.words.metrics import measure, summarise
from seriatim.tasks.words.models.vectors import FIRST, Vectors
from seriatim.tasks.words.options import PREDICTION, QuestionOptions
from seriatim.tasks.words.space import Ranking, WordSpace, parse_analogy, parse_direction

GAP = "*"


class WordPredictor(Predictor):
    """Fitted word vectors. The most frequent words come first, as in the files of other programs."""

    model: Vectors

    @cached_property
    def words(self) -> WordSpace:
        """All words and their vectors."""
        return WordSpace(*self.model.ranked(self.codec.symbols))

    def word_vectors(self) -> WordSpace:
        """The words and their vectors, which networks may begin with."""
        return self.words

    def vector(self, word: str) -> np.ndarray:
        """(D,) the vector of a word; with subwords, of any word."""
        return self.knowing([word]).vector(word)

    def mean_vectors(self, texts: Iterable[str | Sequence[str]]) -> np.ndarray:
        """(S, D) the mean vector of the words of each text or token list; zeros where none is known."""
        rows, vectors = self.codec.number, self.model.vectors(self.codec.symbols)  # (V, D)
        found = []
        for text in texts:
            words = self.codec.pieces_of(text) if isinstance(text, str) else text
            known = [rows[word] for word in words if rows.get(word, 0) >= FIRST]
            parts = [self.model.vector_of(word, None) for word in words if word not in rows]
            every = [*vectors[known], *(part for part in parts if part is not None)]
            found.append(np.mean(every, 0) if every else np.zeros(vectors.shape[1]))
        return np.array(found, np.float64).reshape(-1, vectors.shape[1])

    def knowing(self, words: Iterable[str]) -> WordSpace:
        """All words, and behind them those of a question that only subwords know."""
        unseen: dict[str, np.ndarray] = {}
        for word in words:
            vector = self.model.vector_of(word, None) if self.words.find(word) is None else None
            if vector is not None:
                unseen[word] = vector
        if not unseen:
            return self.words
        vectors = np.concatenate([self.words.vectors, [*unseen.values()]])
        return WordSpace([*self.words.words, *unseen], vectors)

    def conclude(self, lesson: Any, valid: Sequences | None, asked: Any) -> Iterator[str]:
        """Say what the loss is: that of GloVe is of pairs, not of places."""
        self.metrics["per"] = self.model.per
        return iter(())

    # -- asking
    def ranking(self, query: str, found: Ranking, value: str = "cosine") -> Record:
        """The answer to a question: words, each with its cosine or its probability."""
        return self.record("ranking", query=query, found=ranked(found, value))

    def neighbours(self, words: str, *, top: int = 10) -> Record:
        """The nearest words of a word by cosine."""
        return self.ranking(words, self.knowing([words]).neighbours(words, top))

    def analogy(self, words: str, *, top: int = 10, method: str = "add") -> Record:
        """ "paris - france + japan": the words nearest to that sum, or those that the output layer
        predicts of it."""
        plus, minus = parse_analogy(words)
        if method == PREDICTION:
            return self.ranking(words, self.predicted(plus, minus, top), "probability")
        found = self.knowing([*plus, *minus]).analogy(plus, minus, top, method)
        return self.ranking(words, found)

    def analogies(self, file: str | Path, *, top: int = 10, method: str = "add") -> Record:
        """Many of them, one a line, each with its answers."""
        lines = [
            (line, text.strip()) for line, text in enumerate(lines_of(str(file)), 1) if text.strip()
        ]
        if not lines:
            raise DataError(
                "the file holds no analogy",
                file=str(file),
                do='Write one a line, for instance "paris - france + japan"',
            )
        sums = []
        if method == PREDICTION:
            return self.record("rankings", data=str(file), items=self.predictions(file, lines, top))
        for line, text in lines:
            with placed(file, line):
                sums.append(parse_analogy(text))
        words = self.knowing(word for both in sums for side in both for word in side)
        for (line, _), (plus, minus) in zip(lines, sums, strict=True):
            with placed(file, line):
                words.rows([*plus, *minus])
        answers = words.answers(sums, top, method)
        items = [
            {"query": text, "found": ranked(found, "cosine")}
            for (_, text), found in zip(lines, answers, strict=True)
        ]
        return self.record("rankings", data=str(file), items=items)

    def predictions(
        self, file: str | Path, lines: list[tuple[int, str]], top: int
    ) -> list[dict[str, Any]]:
        """What the output layer says of each line of a file."""
        items = []
        for line, text in lines:
            with placed(file, line):
                found = self.predicted(*parse_analogy(text), top)
            items.append({"query": text, "found": ranked(found, "probability")})
        return items

    def predicted(self, plus: list[str], minus: list[str], top: int) -> Ranking:
        """argmax_w p(w | sum of vectors): the words, but those of the question, by probability."""
        self.check_outputs("which predicts")
        every = self.knowing([*plus, *minus])
        every.rows([*plus, *minus])  # an unknown word is an error
        total = np.sum([every.vector(each) for each in plus], 0)
        total = total - np.sum([every.vector(each) for each in minus], 0)
        scores = self.model.missing([total.astype(np.float32)])  # (V,)
        order = np.argsort(-scores[FIRST:], kind="stable") + FIRST
        words = [(self.codec.symbols[i], float(np.exp(scores[i]))) for i in order.tolist()]
        return [each for each in words if each[0] not in (*plus, *minus)][:top]

    def check_outputs(self, purpose: str) -> None:
        """An error for vectors that are half of a model."""
        if not self.model.outputs.any():
            raise ConfigError(
                f"these vectors come without an output layer, {purpose}",
                got=self.spec,
                do="Use a run folder of `fit words`",
            )

    def direction(self, words: str, *, top: int = 10) -> Record:
        """ "man king, uncle prince : woman": where the mean way from the first to the second of each
        pair leads from the last word."""
        pairs, word = parse_direction(words)
        found = self.knowing([word, *chain(*pairs)]).direction(pairs, word, top)
        return self.ranking(words, found)

    def odd(self, words: str) -> Record:
        """ "cat dog car": the words, the least alike first."""
        several = words.split()
        return self.ranking(words, self.knowing(several).odd_one_out(several)[1])

    def missing(self, words: str, *, top: int = 10) -> Record:
        """ "the * of france": the likeliest words at the gap, with their probabilities, from the
        words around it within the window."""
        return self.ranking(words, self.filled(words, top), "probability")

    def map(self, words: str | None = None, *, plane: str = "pca") -> Record:
        """ "paris france, tokyo japan": these words in a plane, with arrows from the first to the
        second of each pair; or the most frequent words."""
        groups = None if words is None else [group.split() for group in words.split(",")]
        return self.record("map", **self.knowing(chain(*groups or ())).map(groups, plane))

    def filled(self, words: str, top: int) -> Ranking:
        """The likeliest words at the gap of a text."""
        self.check_outputs("which a gap is filled by")
        symbols = self.codec.pieces_of(words)
        if symbols.count(GAP) != 1:
            raise ConfigError(
                f"a {GAP} stands for the missing word, once",
                got=repr(words),
                do=f'For instance "the {GAP} of france"',
            )
        place, window = symbols.index(GAP), self.model.options.window
        after = [] if self.model.kind == "predictor" else symbols[place + 1 : place + 1 + window]
        beside = [*symbols[max(0, place - window) : place], *after]
        known = [
            self.codec.number[word] for word in beside if self.codec.number.get(word, 0) >= FIRST
        ]
        if not known:
            raise DataError(
                "no word beside the gap is known",
                got=" ".join(beside) or "nothing",
                do="Give other words around it",
            )
        around = [self.model.vector_of(self.codec.symbols[i], i) for i in known]
        scores = self.model.missing([vector for vector in around if vector is not None])
        likeliest = np.argsort(-scores, kind="stable")[:top]
        return [(self.codec.symbols[i], float(np.exp(scores[i]))) for i in likeliest]

    def data(self, source: Source, gaps: bool = False) -> Sequences:
        """Lines with a gap each, whether or not the text learned from was one stream."""
        source = at_hand(source)
        known = self.reading if is_file(source) else self.reading_in_memory(source)
        reading = replace(known, by="line")
        return self.task.cut.sequences(source, reading, unit=self.unit, gaps=gaps)

    def predict(self, data: Source, *, top: int = 5) -> Record:
        """For each line the likeliest words at its gap: "the * of france"."""
        lines = self.data(data)
        if lines.main.kind != TEXT:
            raise ConfigError(
                "gaps are read from lines of text",
                got=lines.origin,
                do='Write "the * of france", a line each',
            )
        texts = (str(lines.main.raw(s)) for s in range(len(lines)))
        items = [{"next": likeliest(self.filled(text, top))} for text in texts if text.strip()]
        return self.record("predictions", items=items)

    # -- how well
    def measure(self, data: Source, **options: Any) -> Measured:
        """The answers to a file of analogies (sections begin with a colon), or the cosines of pairs
        of words with their similarity. Options: see `QuestionOptions`."""
        asked = build(QuestionOptions, options, "evaluate")
        if not isinstance(data, (str, Path)):
            raise ConfigError(
                "word vectors are evaluated on a file of analogies or of similarities",
                got=getattr(data, "origin", type(data).__name__),
                do="Give its path",
            )
        return measure(self.words, data, asked.most, asked.method, asked.column)

    def summarise(self, measured: Measured) -> Record:
        """The share of right answers, or the correlation with what people say."""
        return self.record("evaluation", data=measured["data"], **summarise(measured))

    def compared(self, measured: Measured, other: Measured) -> dict[str, Any]:
        """Word vectors are not compared."""
        raise ConfigError(
            "word vectors are not compared by what they predict",
            got=self.spec,
            do="Evaluate each on the same file",
        )

    def export(self, *, out: str | Path = "") -> Record:
        """Write the vectors: .txt (word2vec), .bin (word2vec, binary), .vec (fastText), .glove,
        .safetensors; the texts also as .gz and .xz."""
        if not str(out):
            raise ConfigError(
                "there is no name to write to", do="Name a file with --out, such as vectors.txt"
            )
        write_vectors(out, self.words.words, self.words.vectors)
        width = self.words.vectors.shape[1]
        return self.record("exported", out=str(out), words=len(self.words.words), width=width)


def ranked(found: Ranking, value: str) -> list[dict[str, Any]]:
    """A ranking as it stands in a record."""
    return [{"word": word, value: score} for word, score in found]


def likeliest(found: Ranking) -> list[dict[str, Any]]:
    """The same, as what comes next stands in a record."""
    return [{"symbol": word, "probability": chance} for word, chance in found]


@contextmanager
def placed(file: str | Path, line: int) -> Iterator[None]:
    """What is wrong here is wrong in this line of a file."""
    try:
        yield
    except SeriatimError as error:
        error.file, error.line = str(file), line
        raise


def of_vectors(path: Path) -> WordPredictor | None:
    """The vectors of a file of word2vec, GloVe, fastText or ours; there is no output layer to fill
    gaps with."""
    if not os.path.isfile(path):
        return None
    try:
        words, vectors = read_vectors(path)
    except PickleError:
        raise
    except DataError as error:  # no ending tells vectors from anything else
        raise RunError(
            f"{path} is not a run folder, and not a file of n-grams or word vectors either",
            got=error,
            do="Give the folder that fit or compare wrote, an ARPA file, or word vectors",
        ) from None
    parts = TASK.parts("skip-gram", {"width": vectors.shape[1]})
    codec = Tokens(CodecOptions(unit="token"), [*SPECIALS, *words])
    model = create(parts, codec.size)
    assert isinstance(model, Vectors)
    without = torch.zeros(len(SPECIALS), vectors.shape[1])
    model.inputs = torch.cat([without, torch.from_numpy(np.ascontiguousarray(vectors))])
    model.counts = torch.arange(codec.size, 0, -1)  # as they stand in the file: most frequent first
    return WordPredictor(TASK, "skip-gram", parts, codec, model, "stream")
