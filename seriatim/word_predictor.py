"""A Predictor of word vectors: neighbours, analogies, missing words, files in and out.

    model = fit("words", "skip-gram", "wiki.txt")
    model.neighbours("king");  model.analogy("paris - france + japan");  model.evaluate("questions-words.txt")
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from seriatim.codecs.symbols import SPECIALS, Tokens
from seriatim.config import CodecOptions
from seriatim.data import read
from seriatim.data.files import lines_of
from seriatim.data.sequences import TEXT, Sequences
from seriatim.data.vectors import read_vectors, write_vectors
from seriatim.errors import ConfigError, DataError, SeriatimError
from seriatim.models import create, parse
from seriatim.models.vectors import FIRST
from seriatim.predictor import Silent, load
from seriatim.words import Ranking, Words, parse_analogy, parse_direction

GAP = "*"


class WordPredictor(Silent):
    """Fitted word vectors. The most frequent words come first, as in the files of other programs."""

    @cached_property
    def words(self) -> Words:
        return Words(*self.model.ranked(self.codec.symbols))

    def vector(self, word: str) -> np.ndarray:
        """(D,) the vector of a word; with subwords, of any word."""
        return self.knowing([word]).vector(word)

    def knowing(self, words: Iterable[str]) -> Words:
        """All words, and behind them those of a question that only subwords know."""
        unseen = {word: self.model.vector_of(word, None) for word in words if self.words.find(word) is None}
        unseen = {word: vector for word, vector in unseen.items() if vector is not None}
        return Words([*self.words.words, *unseen], np.concatenate([self.words.vectors, [*unseen.values()]])) if unseen else self.words

    def neighbours(self, word: str, top: int = 10) -> Ranking:
        """The nearest words by cosine."""
        return self.knowing([word]).neighbours(word, top)

    def analogy(self, text: str, top: int = 10, method: str = "add") -> Ranking:
        """"paris - france + japan": the words nearest to that sum."""
        plus, minus = parse_analogy(text)
        return self.knowing([*plus, *minus]).analogy(plus, minus, top, method)

    def analogies(self, file: str | Path, top: int = 10, method: str = "add") -> list[tuple[str, Ranking]]:
        """Many of them, one a line, each with its answers."""
        lines = [(line, text.strip()) for line, text in enumerate(lines_of(str(file)), 1) if text.strip()]
        if not lines:
            raise DataError("the file holds no analogy", file=str(file), do='Write one a line, for instance "paris - france + japan"')
        sums = []
        for line, text in lines:
            with placed(file, line):
                sums.append(parse_analogy(text))
        words = self.knowing(word for both in sums for side in both for word in side)
        for (line, _), (plus, minus) in zip(lines, sums, strict=True):
            with placed(file, line):
                words.rows([*plus, *minus])
        return [(text, found) for (_, text), found in zip(lines, words.answers(sums, top, method), strict=True)]

    def direction(self, text: str, top: int = 10) -> Ranking:
        """"man king, uncle prince : woman": where the mean way from the first to the second of each pair leads from the last word."""
        pairs, word = parse_direction(text)
        return self.knowing([word, *chain(*pairs)]).direction(pairs, word, top)

    def map(self, text: str | None = None, by: str = "pca") -> dict[str, Any]:
        """"paris france, tokyo japan": these words in a plane, with arrows from the first to the second of each pair; or the most frequent words."""
        groups = None if text is None else [group.split() for group in text.split(",")]
        return self.knowing(chain(*groups or ())).map(groups, by)

    def odd(self, text: str) -> Ranking:
        """"cat dog car": the words, the least alike first."""
        return self.knowing(text.split()).odd_one_out(text.split())[1]

    def missing(self, text: str, top: int = 10) -> Ranking:
        """"the * of france": the likeliest words at the gap, with their probabilities, from the words around it within the window."""
        if not self.model.outputs.any():
            raise ConfigError("these vectors come without an output layer, which a gap is filled by", got=self.spec, do="Use a run folder of `fit words`")
        symbols = self.codec.pieces_of(text)
        if symbols.count(GAP) != 1:
            raise ConfigError(f"a {GAP} stands for the missing word, once", got=repr(text), do=f'For instance "the {GAP} of france"')
        place, window = symbols.index(GAP), self.model.options.window
        after = [] if self.model.kind == "predictor" else symbols[place + 1:place + 1 + window]
        beside = [*symbols[max(0, place - window):place], *after]
        known = [self.codec.number[word] for word in beside if self.codec.number.get(word, 0) >= FIRST]
        if not known:
            raise DataError("no word beside the gap is known", got=" ".join(beside) or "nothing", do="Give other words around it")
        scores = self.model.missing([self.model.vector_of(self.codec.symbols[i], i) for i in known])
        return [(self.codec.symbols[i], float(np.exp(scores[i]))) for i in np.argsort(-scores, kind="stable")[:top]]

    def evaluate(self, data: Sequences | str | Path, most: int = 30_000, method: str = "add", column: str | None = None) -> dict[str, Any]:
        """On a file of analogies (sections begin with a colon) or of pairs of words with their similarity."""
        if isinstance(data, Sequences):
            raise ConfigError("word vectors are evaluated on a file of analogies or of similarities", got=data.origin, do="Give its path")
        return {"version": 1, "task": self.task, "model": self.spec, "data": str(data), **self.words.evaluate(data, most, method, column)}

    def predict(self, data: Sequences | str | Path, top: int = 5) -> list[dict[str, Any]]:
        """For each line the likeliest words at its gap: "the * of france"."""
        data = data if isinstance(data, Sequences) else read(data, by="line")
        if data.main.kind != TEXT:
            raise ConfigError("gaps are read from lines of text", got=data.origin, do='Write "the * of france", a line each')
        lines = (str(data.main.raw(s)) for s in range(len(data)))
        return [{"next": [{"symbol": word, "probability": chance} for word, chance in self.missing(line, top)]} for line in lines if line.strip()]

    def export(self, file: str | Path) -> dict[str, Any]:
        """Write the vectors: .txt (word2vec), .bin (word2vec, binary), .vec (fastText), .glove, .safetensors; the texts also as .gz and .xz."""
        write_vectors(file, self.words.words, self.words.vectors)
        return {"out": str(file), "words": len(self.words.words), "width": self.words.vectors.shape[1]}

    def silent(self) -> ConfigError:
        return ConfigError("word vectors neither write nor score texts", got=self.spec, do="Fit a model of `language` for that")


@contextmanager
def placed(file: str | Path, line: int) -> Iterator[None]:
    """What is wrong here is wrong in this line of a file."""
    try:
        yield
    except SeriatimError as error:
        error.file, error.line = str(file), line
        raise


def word_vectors(run: str | Path, what: str) -> WordPredictor:
    """A run or a file of word vectors; any other is refused."""
    predictor = load(run)
    if not isinstance(predictor, WordPredictor):
        in_file = predictor.task == "autoencode" and what == "--neighbours"
        raise ConfigError(f"{what} is asked of word vectors", got=f"{run}, a model of {predictor.task}",
                          do="Name the FILE to look in" if in_file else "Fit some with `seriatim fit words skip-gram FILE`")
    return predictor


def of_vectors(path: str | Path) -> WordPredictor:
    """The vectors of a file of word2vec, GloVe, fastText or ours; there is no output layer to fill gaps with."""
    import torch
    words, vectors = read_vectors(path)
    parts = parse("skip-gram", {"width": vectors.shape[1]}, "words")
    codec = Tokens(CodecOptions(unit="token"), [*SPECIALS, *words])
    model = create(parts, codec.size)
    model.inputs = torch.cat([torch.zeros(len(SPECIALS), vectors.shape[1]), torch.from_numpy(np.ascontiguousarray(vectors))])
    model.counts = torch.arange(codec.size, 0, -1)                                  # as they stand in the file: most frequent first
    return WordPredictor("skip-gram", parts, codec, model, "stream", task="words")
