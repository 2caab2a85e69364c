"""Conformance that a student can read: every rung of the language ladder passes, and a model with a
deliberate mistake is told it in a sentence, with the place and the figures."""

from __future__ import annotations

import re

import pytest
import torch
from torch import Tensor

import seriatim as st
from seriatim.batches import Batch
from seriatim.conforming import CHECKS
from seriatim.distributions.symbols import Categorical
from seriatim.errors import ConfigError
from seriatim.models.base import Model
from tests import ladder
from tests.own import Again, Stumbling, TableNet

VOCABULARY = 7


class Sums(Model):
    """Right: a vector for each symbol, added up and halved at every step."""

    def __init__(self, vocabulary: int = VOCABULARY, options: object = None):
        self.vocabulary = vocabulary
        dice = torch.Generator().manual_seed(3)
        self.vectors = torch.randn(vocabulary, vocabulary, generator=dice)

    def counting(self, ids, stop):
        yield from ()

    def arrays(self):
        return {}

    def start(self, batch: Batch):
        state = torch.zeros(len(batch.x), self.vocabulary)
        for t in range(batch.x.shape[1]):
            real = (t < batch.x_lengths)[:, None]
            state = torch.where(real, self.moved(batch.x[:, t], state), state)
        return self.expected(state), state

    def step(self, y: Tensor, state: Tensor):
        state = self.moved(y, state)
        return self.expected(state), state

    def moved(self, y: Tensor, state: Tensor) -> Tensor:
        return state / 2 + self.vectors[y]

    def expected(self, state: Tensor):
        return Categorical(state)


class TooMany(Sums):
    def expected(self, state):
        return Categorical(torch.cat([state, state[..., :1]], -1))


class Leaking(Categorical):
    def log_probs(self):
        return super().log_probs() + torch.tensor(0.97).log()

    def log_prob(self, y):
        return super().log_prob(y) + torch.tensor(0.97).log()


class NotOne(Sums):
    def expected(self, state):
        return Leaking(state)


class Boasting(Categorical):
    def log_prob(self, y):
        return super().log_prob(y) / 2


class TwoVoices(Sums):
    def expected(self, state):
        return Boasting(state)


class Forgetful(Sums):
    """All at once it halves twice."""

    def predict(self, batch):
        return Categorical(super().predict(batch).logits / 2)


class Prophet(Sums):
    """All at once it sees the symbol after next."""

    def predict(self, batch):
        logits = super().predict(batch).logits.clone()
        logits[:, :-2] += self.vectors[batch.y[:, 2:]]
        return Categorical(logits)


class Cheat(Sums):
    def predict(self, batch):
        return Categorical(super().predict(batch).logits + self.vectors[batch.y])


class Sociable(Sums):
    def moved(self, y, state):
        return super().moved(y, state) + state.mean(0)


class Crowded(Sums):
    def expected(self, state):
        return Categorical(state / len(state))


class PastTheEnd(Sums):
    def predict(self, batch):
        behind = (self.vectors[batch.y] * ~batch.y_mask[..., None]).sum(1, keepdim=True)
        return Categorical(super().predict(batch).logits + behind)


class LastOfAll(Sums):
    def start(self, batch):
        state = torch.zeros(len(batch.x), self.vocabulary)
        for t in range(batch.x.shape[1]):
            state = self.moved(batch.x[:, t], state)
        return self.expected(state), state


class Deaf(Sums):
    def start(self, batch):
        state = torch.zeros(len(batch.x), self.vocabulary)
        return self.expected(state), state


class Scribbling(Sums):
    def moved(self, y, state):
        state /= 2
        state += self.vectors[y]
        return state


class Keeping(Sums):
    """The state is on self, and what is passed about is empty."""

    def start(self, batch):
        _, self.kept = super().start(batch)
        return self.expected(self.kept), torch.zeros(len(batch.x), 0)

    def step(self, y, state):
        if len(y) != len(self.kept):
            self.kept = torch.zeros(len(y), self.vocabulary)
        self.kept = self.moved(y, self.kept)
        return self.expected(self.kept), state


class Listing(Sums):
    def start(self, batch):
        following, state = super().start(batch)
        return following, [state]

    def step(self, y, state):
        following, state = super().step(y, state[0])
        return following, [state]


class RowsLast(Sums):
    def start(self, batch):
        following, state = super().start(batch)
        return following, state.T

    def step(self, y, state):
        following, state = super().step(y, state.T)
        return following, state.T


class RowNumbers(Sums):
    """The state remembers in which row it was, and is lost elsewhere."""

    def start(self, batch):
        following, state = super().start(batch)
        return following, torch.cat([state, torch.arange(len(state))[:, None]], 1)

    def step(self, y, state):
        here = torch.arange(len(y))
        moved = (state[:, -1] != here)[:, None]
        inner = torch.where(moved, torch.zeros(()), state[:, :-1])
        following, inner = super().step(y, inner)
        return following, torch.cat([inner, here[:, None]], 1)


class Hasty(Sums):
    """Of many rows it is less sure."""

    def expected(self, state):
        return Categorical(state / (10 if len(state) > 50 else 1))


WRONG = [
    (
        TooMany,
        "shape",
        r"predict gave log-probabilities of shape \(4, 8, 8\): 4 rows of 8 positions",
    ),
    (NotOne, "sum", r"^at the start the probabilities sum to 0\.97$"),
    (TwoVoices, "cell", r"^at the start log_prob gives \d 0\.38, and log_probs 0\.14$"),
    (
        Forgetful,
        "steps",
        r"^after \d step by step gives \d 0\.\d+, and all at once 0\.\d+: text is",
    ),
    (Prophet, "future", r"^position 6 changed when symbol 8 did: you look into the future$"),
    (Cheat, "future", r"^position 8 changed when symbol 8 did: you look at the answer itself$"),
    (Sociable, "neighbours", r"^row 1 changed when row 2 did: rows are sequences that happen"),
    (
        Crowded,
        "neighbours",
        r"^row 1 alone gives \d 0\.\d+ after \d, and among 4 rows 0\.\d+: a row",
    ),
    (PastTheEnd, "padding", r"^row 1 ends after 2 symbols, and its position 1 changed when what"),
    (LastOfAll, "padding", r"^row 1 is a prompt of 2 symbols, .* batch\.x_lengths says where it"),
    (
        Deaf,
        "prompts",
        r"^after \d a prompt of 1 symbol gives \d 0\.\d+, and 1 step 0\.\d+: start is",
    ),
    (
        Scribbling,
        "state",
        r"^after \d, the step \d from the same state gave \d 0\.\d+ the first time",
    ),
    (Keeping, "state", r"leave it as it is, give a new one back, and keep nothing of it on self$"),
    (
        Listing,
        "rows",
        r"^a part of the state is a list: a state is a tensor, or a tuple of states$",
    ),
    (
        RowsLast,
        "rows",
        r"has the shape \(7, 4\), and there are 4 rows: rows come first in every part",
    ),
    (
        RowNumbers,
        "rows",
        r"^row 3 of the state, taken to another place, gives \d 0\.\d+ instead of",
    ),
    (
        Hasty,
        "samples",
        r"^after \d, \d, \d came in 0\.\d+ of 4,000 samples and is scored 0\.\d+: what",
    ),
]


def found_in(record: dict) -> dict[str, str]:
    """What is wrong, by check."""
    return {each["check"]: each["words"] for each in record["items"] if each["passed"] is False}


@pytest.mark.parametrize("name", ladder.RUNGS)
def test_every_rung_of_the_ladder_conforms(name):
    record = st.conform(ladder.small_model(name))
    assert record["whole"], found_in(record)
    assert [each["check"] for each in record["items"]] == list(CHECKS)


@pytest.mark.parametrize("model", [Sums(), Sums, Again, TableNet])
def test_a_right_model_and_its_class_conform(model):
    assert found_in(st.conform(model)) == {}


@pytest.mark.parametrize(
    ("cls", "check", "words"), WRONG, ids=lambda each: getattr(each, "__name__", "")
)
def test_a_mistake_is_told_in_a_sentence_with_its_place(cls, check, words):
    record = st.conform(cls())
    found = found_in(record)
    assert not record["whole"] and check in found
    assert re.search(words, found[check]), found[check]


def test_every_check_has_a_model_that_fails_it():
    assert {check for _, check, _ in WRONG} == set(CHECKS)


def test_most_mistakes_fail_their_own_check_alone():
    alone = {NotOne: "sum", TwoVoices: "cell", PastTheEnd: "padding"}
    alone |= {RowNumbers: "rows", Hasty: "samples"}
    assert {cls: [*found_in(st.conform(cls()))] for cls in alone} == {
        c: [n] for c, n in alone.items()
    }


def test_after_a_wrong_shape_nothing_else_is_asked():
    record = st.conform(Stumbling)
    assert [each["passed"] for each in record["items"]] == [False] + [None] * (len(CHECKS) - 1)
    words = record["items"][0]["words"]
    assert words.startswith("AttributeError: 'Stumbling' object") and words.endswith(" of step)")


def test_symbols_of_a_predictor_are_called_by_their_names():
    class Wrong(Sums):
        def expected(self, state):
            return Leaking(state)

    predictor = st.fit("language", Wrong, "markov:length=2000")
    found = found_in(st.conform(predictor, ["abc abc", "cab cab"]))
    assert found["sum"] == "at the start the probabilities sum to 0.97"
    deaf = found_in(st.conform(st.fit("language", Deaf, "markov:length=2000")))
    assert deaf["prompts"].startswith("after '") and "gives '" in deaf["prompts"]
    mixed = st.fit("language", "unigram+markov", "markov:length=2000")
    assert st.conform(mixed)["whole"]


def test_what_it_shows_is_a_table():
    record = st.conform(NotOne())
    assert record["kind"] == "conformance" and record["model"] == "NotOne"
    assert "the probabilities sum to 0.97" in record._repr_html_()
    assert list(record.to_frame("polars")["check"]) == list(CHECKS)
    assert "NotOne: 1 check failed" in record._repr_html_()
    assert "Sums: conforms" in st.conform(Sums)._repr_html_()


def test_others_are_refused():
    with pytest.raises(ConfigError, match="only models of what comes next"):
        st.conform(st.fit("classify", "naive-bayes", (["a b", "b c"], ["x", "y"])))
    pairs = [("a b", "A B"), ("b c", "B C"), ("c a", "C A")] * 20
    with pytest.raises(ConfigError, match=r"only models of what comes next.*translate"):
        st.conform(st.fit("translate", "lexicon", pairs, unit="token"))
    with pytest.raises(ConfigError, match="a model knows numbers and no text"):
        st.conform(Sums(), ["abc"])
    with pytest.raises(ConfigError, match="a model is a name, a class"):
        st.conform(3)
    with pytest.raises(ConfigError, match="there is nothing in these data"):
        st.conform(st.fit("language", "unigram", "markov:length=500"), [""])
