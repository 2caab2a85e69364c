"""What a sentence teaches word vectors: the pairs of input and target that each rung makes of it.

    predictor   w[t-1] -> w[t]
    cbow        the k words on each side -> w[t];  each weighs n / (their number), n times there
    skip-gram   each of them by itself -> w[t]

With fixed windows (`--dynamic-window false`) and nothing thinned out (`--subsample 0`) these are
the very guesses of a fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from seriatim.codecs.options import CodecOptions
from seriatim.codecs.symbols import codec_class
from seriatim.errors import ConfigError
from seriatim.records import Record, record
from seriatim.tasks.words import TASK

START = "<start>"


def windows(words: list[str], reach: int) -> Iterator[tuple[str, list[str]]]:
    """Each word, and those up to `reach` before and after it; START is not guessed.

    >>> list(windows(["<start>", "the", "cat"], 1))
    [('the', ['<start>', 'cat']), ('cat', ['the'])]
    """
    for place, word in enumerate(words):
        if word != START:
            yield word, words[max(0, place - reach) : place] + words[place + 1 :][:reach]


def words_in(text: str, lower: bool, punctuation: bool) -> list[str]:
    """The words of a text, as the unit `word` cuts it."""
    codec = codec_class("word")(CodecOptions(unit="word"), [])
    found = codec.pieces_of(text.lower() if lower else text)
    return [word for word in found if punctuation or any(map(str.isalnum, word))]


def pairs(
    text: str | None,
    *,
    window: int = 2,
    start: bool = False,
    punctuation: bool = True,
    lower: bool = True,
) -> Record:
    """The verb: all pairs of one sentence."""
    words = words_in(text or "", lower, punctuation)
    if not words:
        raise ConfigError(
            "there is no word to make pairs of",
            got=repr(text or ""),
            do='Give a sentence, for instance --text "the cat sat"',
        )
    words = [START] * start + words
    found = list(windows(words, window))
    before = [{"input": one, "target": other} for one, other in pairwise(words)]
    bags: list[dict[str, Any]] = [
        {"context": around, "shares": shares_of(around), "target": word}
        for word, around in found
        if around
    ]
    single = [{"input": one, "target": word} for word, around in found for one in around]
    return record(
        "pairs",
        task=TASK.name,
        text=text,
        words=words,
        window=window,
        start=start,
        rungs={"predictor": before, "cbow": bags, "skip-gram": single},
    )


def shares_of(around: list[str]) -> dict[str, float]:
    """How much of the mean of the words around each is: n / (their number)."""
    return {word: times / len(around) for word, times in Counter(around).items()}
