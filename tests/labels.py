"""Small labelled data for tests: messages of three labels, and sentences in which a tag depends on the words beside it."""
from __future__ import annotations

import random
from collections.abc import Sequence

from seriatim.data.sequences import Field, Sequences

OWN = {"ham": ["home", "tea", "Mum", "dog"], "spam": ["free", "win", "cash", "NOW"], "work": ["report", "Monday", "desk", "mail"]}
COMMON = ["the", "a", "on", "it", "and"]
TAGS = {"the": "DET", "a": "DET", "dog": "NOUN", "Mum": "NOUN", "sees": "VERB", "old": "ADJ", "quickly": "ADV"}
EITHER = ["run", "walk", "talk"]                                       # nouns after a determiner, otherwise verbs


def labelled(rows: Sequence[tuple[str, str]], **more) -> Sequences:
    """Pairs of a label and a text."""
    return Sequences({"label": Field.of_labels(label for label, _ in rows), "text": Field.of_text(text for _, text in rows)}, **more)


def pairs(count: int, seed: int = 0, labels: int = 3) -> list[tuple[str, str]]:
    dice = random.Random(seed)
    chosen = [dice.choice(list(OWN)[:labels]) for _ in range(count)]
    return [(label, " ".join(dice.choices(OWN[label] + COMMON, k=dice.randint(3, 9)))) for label in chosen]


def messages(count: int = 60, seed: int = 0, labels: int = 3) -> Sequences:
    """Texts, each with some words that only its label has."""
    return labelled(pairs(count, seed, labels))


def tags_of(words: Sequence[str]) -> list[str]:
    """The rule, which looks at the word before."""
    return [("NOUN" if before in ("the", "a") else "VERB") if word in EITHER else TAGS[word] for before, word in zip(["", *words], words)]


def sentences(count: int = 60, seed: int = 0) -> Sequences:
    """Tokens with their tags."""
    dice = random.Random(seed)
    rows = [dice.choices([*TAGS, *EITHER], k=dice.randint(1, 9)) for _ in range(count)]
    return tagged(rows, list(map(tags_of, rows)))


def tagged(tokens: Sequence[Sequence[str]], tags: Sequence[Sequence[str]], **more) -> Sequences:
    return Sequences({"tokens": Field.of_symbols(tokens), "tags": Field.of_symbols(tags)}, unit="token", **more)
