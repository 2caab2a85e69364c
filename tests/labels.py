"""Small labelled data for tests: messages of three labels, and sentences in which a tag depends on the words beside it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import numpy as np

from seriatim.codecs.symbols import UNKNOWN
from seriatim.data.sequences import Field, Sequences
from seriatim.models.base import Model
from seriatim.tasks.labels.codec import Examples, of_examples
from tests.conftest import symbols

OWN = {
    "ham": ["home", "tea", "Mum", "dog"],
    "spam": ["free", "win", "cash", "NOW"],
    "work": ["report", "Monday", "desk", "mail"],
}
COMMON = ["the", "a", "on", "it", "and"]
TAGS = {
    "the": "DET",
    "a": "DET",
    "dog": "NOUN",
    "Mum": "NOUN",
    "sees": "VERB",
    "old": "ADJ",
    "quickly": "ADV",
}
V, K = 6, 3  # symbols and labels of random sequences
EITHER = ["run", "walk", "talk"]  # nouns after a determiner, otherwise verbs


def labelled(rows: Sequence[tuple[str, str]]) -> Sequences:
    """Pairs of a label and a text."""
    return Sequences(
        {
            "label": Field.of_labels(label for label, _ in rows),
            "text": Field.of_text(text for _, text in rows),
        }
    )


def pairs(count: int, seed: int = 0, labels: int = 3) -> list[tuple[str, str]]:
    dice = random.Random(seed)
    chosen = [dice.choice(list(OWN)[:labels]) for _ in range(count)]
    return [
        (label, " ".join(dice.choices(OWN[label] + COMMON, k=dice.randint(3, 9))))
        for label in chosen
    ]


def messages(count: int = 60, seed: int = 0, labels: int = 3) -> Sequences:
    """Texts, each with some words that only its label has."""
    return labelled(pairs(count, seed, labels))


def tags_of(words: Sequence[str]) -> list[str]:
    """The rule, which looks at the word before."""
    return [
        ("NOUN" if before in ("the", "a") else "VERB") if word in EITHER else TAGS[word]
        for before, word in zip(["", *words], words)
    ]


def sentences(count: int = 60, seed: int = 0) -> Sequences:
    """Tokens with their tags."""
    dice = random.Random(seed)
    rows = [dice.choices([*TAGS, *EITHER], k=dice.randint(1, 9)) for _ in range(count)]
    return tagged(rows, list(map(tags_of, rows)))


def tagged(
    tokens: Sequence[Sequence[str]],
    tags: Sequence[Sequence[str]],
    origin: str = "memory",
    lines: np.ndarray | None = None,
) -> Sequences:
    return Sequences(
        {"tokens": Field.of_symbols(tokens), "tags": Field.of_symbols(tags)},
        unit="token",
        origin=origin,
        lines=lines,
    )


# Sequences of numbers, and values


def processes(count: int, seed: int = 0) -> Sequences:
    """Two autoregressive processes of the same mean and variance, told apart only by how they go on."""
    dice, rows, labels = np.random.default_rng(seed), [], []
    for i in range(count):
        share, row = (0.0, 0.95)[i % 2], [dice.standard_normal()]
        for _ in range(int(dice.integers(25, 40))):
            row.append(share * row[-1] + np.sqrt(1 - share**2) * dice.standard_normal())
        rows.append(np.array(row) + 5)
        labels.append(("quick", "slow")[i % 2])
    return Sequences({"values": Field.of_numbers(rows), "label": Field.of_labels(labels)})


def quantities(count: int, seed: int = 0, noise: float = 0.1) -> Sequences:
    """Two channels, and 100 + 20 (mean of the first - half the mean of the second) + noise as value."""
    dice = np.random.default_rng(seed)
    rows = [
        dice.standard_normal((int(dice.integers(1, 9)), 2)) + 3 * dice.standard_normal(2)
        for _ in range(count)
    ]
    values = [
        100 + 20 * (row[:, 0].mean() - row[:, 1].mean() / 2 + noise * dice.standard_normal())
        for row in rows
    ]
    return Sequences(
        {"values": Field.of_numbers(rows), "value": Field.of_numbers([[value] for value in values])}
    )


def reviews(count: int, seed: int = 0) -> Sequences:
    """Texts whose value is the mean of what their words are worth."""
    worth = {"awful": -3.0, "bad": -1.0, "so": 0.0, "film": 0.0, "fine": 1.0, "great": 3.0}
    dice = np.random.default_rng(seed)
    rows = [dice.choice(list(worth), int(dice.integers(2, 7))).tolist() for _ in range(count)]
    return Sequences(
        {
            "text": Field.of_text(map(" ".join, rows)),
            "value": Field.of_numbers([[np.mean([worth[word] for word in row])] for row in rows]),
        }
    )


# In numbers, for models that count


def examples(count: int = 40, seed: int = 0) -> Examples:
    """Random sequences of V symbols; some are empty, some symbols unknown, and labels are not equally frequent."""
    dice = np.random.default_rng(seed)
    x = symbols([dice.integers(0, V, dice.integers(0, 9)) for _ in range(count)])
    return Examples(
        x, symbols([[label] for label in np.minimum(dice.integers(0, K + 2, count), K - 1)])
    )


def counted(model: Model, data: Examples) -> Model:
    assert [each["share"] for each in model.counting(data) if "share" in each][-1] == 1.0
    return model


def answers(model: Model, data: Examples) -> np.ndarray:
    """(S, K) log-probabilities."""
    return model.predict(of_examples(data, np.arange(len(data)))).log_probs().numpy()


def grams_of(row, longest: int) -> list[tuple[int, ...]]:
    """Every run of up to so many known symbols, wherever it ends."""
    runs = [
        tuple(row[t - n + 1 : t + 1]) for n in range(1, longest + 1) for t in range(n - 1, len(row))
    ]
    return [run for run in runs if UNKNOWN not in run]


def table(
    data: Examples, longest: int, known: list[tuple[int, ...]] | None = None
) -> tuple[np.ndarray, list]:
    """(S, F) how often each row has each run that some row has, counted one by one."""
    rows = [Counter(grams_of(data.x.row(s).tolist(), longest)) for s in range(len(data))]
    known = known or sorted({run for row in rows for run in row})
    return np.array([[row[run] for run in known] for row in rows]), known
