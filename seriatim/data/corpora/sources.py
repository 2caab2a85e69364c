"""Generated sources whose true entropy is known: the limit that no model can beat.

    entropy = lim  1/T  E[ -log p(x_1 .. x_T) ]        nats per symbol

A source samples text, knows its entropy, and scores any text with the true conditional
probabilities, so that a model can be held against the truth on the very same symbols:

    data = generate("markov:order=2,seed=1")
    truth = parse_source("markov:order=2,seed=1").log_prob(data[0]["text"])

Shapes: T symbols of a text, S sequences, V symbols of the alphabet, C contexts or states, J successors.
"""

from __future__ import annotations

import string
from abc import ABC, abstractmethod
from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np

from seriatim.data.sequences import SYMBOLS, TEXT, Field, Sequences, offsets_of
from seriatim.errors import ConfigError, DataError, nearest
from seriatim.settings import build, option

ALPHABET = (
    string.ascii_lowercase + " " + string.ascii_uppercase + string.digits + string.punctuation
)


BRACKETS = "()[]{}<>"


FILLERS = "0123"


CHORDS = (
    (48, 60, 64, 67),
    (50, 62, 65, 69),
    (52, 59, 64, 67),
    (53, 60, 65, 69),
    (55, 59, 62, 67),
    (57, 60, 64, 69),
)  # piano: bass, three above


HABIT = 0.7  # hidden Markov: how strongly a state keeps to itself and to its favourite symbol


MOST_LENGTH = 10_000_000  # symbols in one sample


MOST_TRANSITIONS = 2_000_000  # from the contexts of a Markov source


MOST_CELLS = 10_000_000  # hidden Markov: numbers in the enumeration of prefixes


MOST_SEED = 2**32 - 1


Generated = TypeVar("Generated")


def log(chance: np.ndarray) -> np.ndarray:
    """Logarithm with minus infinity for what cannot be, without a warning."""
    with np.errstate(divide="ignore"):
        return np.log(chance)


def entropy_of(chance: np.ndarray) -> float:
    """-sum p log p over all cells, in nats."""
    chance = chance[chance > 0]
    return float(-(chance * np.log(chance)).sum())


class Source(ABC):
    """What all sources share: the probabilities follow from `seed`, the text from the generator
    given to `sample`."""

    seed: int

    @property
    @abstractmethod
    def alphabet(self) -> Sequence[str]:
        """Every character, or token, that can occur."""

    @property
    @abstractmethod
    def entropy(self) -> float:
        """True nats per symbol."""

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> Sequences:
        """Text drawn from the source, in a field called `text`."""

    @abstractmethod
    def log_prob(self, text: Sequence[str]) -> np.ndarray:
        """True log-probability of each symbol given the earlier ones: (T,), or (T + 1,) with the
        end of a line.

        Minus infinity for a symbol that cannot come next; what follows such a symbol has no meaning.
        """

    def as_sequences(self, symbols: np.ndarray, by: str) -> Sequences:
        """(S, T) numbers of symbols -> text; each symbol is one ASCII character, hence one byte."""
        characters = np.frombuffer("".join(self.alphabet).encode("ascii"), np.uint8)[symbols]
        text = Field(characters.ravel(), offsets_of(np.full(len(symbols), symbols.shape[1])), TEXT)
        return Sequences(
            {"text": text}, by=by, unit="character", origin=repr(self), entropy=self.entropy
        )

    def as_symbols(self, text: Sequence[str]) -> np.ndarray:
        """Text -> (T,) numbers of symbols."""
        number = {symbol: i for i, symbol in enumerate(self.alphabet)}
        strange = sorted(set(text) - set(number))
        if strange:
            raise DataError(
                "the text has symbols outside the alphabet of its source",
                got=repr("".join(strange)),
                do=f"The alphabet is {self.alphabet!r}",
            )
        return np.array([number[symbol] for symbol in text], np.int64)


@dataclass(frozen=True)
class Independent(Source):
    """Symbols drawn one by one from a single distribution: there is nothing to remember."""

    symbols: int = option(27, "size of the alphabet", least=2, most=len(ALPHABET))
    length: int = option(200_000, "symbols in a sample", least=1, most=MOST_LENGTH)
    seed: int = option(
        0, "random numbers: the probabilities, and the text of `generate`", least=0, most=MOST_SEED
    )

    @property
    def alphabet(self) -> str:
        """The first characters of ALPHABET."""
        return ALPHABET[: self.symbols]

    @cached_property
    def probability(self) -> np.ndarray:
        """(V,) of each symbol, drawn by the seed."""
        return np.random.default_rng(self.seed).dirichlet(np.ones(self.symbols))  # (V,)

    @property
    def entropy(self) -> float:
        """That of one symbol, since none depends on another."""
        return entropy_of(self.probability)

    def sample(self, rng: np.random.Generator) -> Sequences:
        """One stream of symbols drawn one by one."""
        return self.as_sequences(
            rng.choice(self.symbols, (1, self.length), p=self.probability), by="stream"
        )

    def log_prob(self, text: Sequence[str]) -> np.ndarray:
        """(T,) each symbol on its own."""
        return log(self.probability[self.as_symbols(text)])


@dataclass(frozen=True, eq=False)
class SymbolChain:
    """States that follow each other: where each one leads and with what probability, (C, J) both."""

    destinations: np.ndarray
    probability: np.ndarray

    @cached_property
    def stationary(self) -> np.ndarray:
        """The share of time spent in each state: (C,)."""
        share = np.full(len(self.probability), 1 / len(self.probability))
        while True:
            moved = np.bincount(
                self.destinations.ravel(), (share[:, None] * self.probability).ravel(), len(share)
            )
            if np.abs(moved - share).sum() < 1e-10:
                return moved
            share = (
                0.1 * share + 0.9 * moved
            )  # a part stays behind, so that a chain with a period settles too

    def walk(self, steps: int, rng: np.random.Generator) -> np.ndarray:
        """The states visited, the first one drawn from the stationary distribution: (steps,)."""
        bounds, destinations = (
            np.cumsum(self.probability, 1)[:, :-1].tolist(),
            self.destinations.tolist(),
        )
        path = [int(rng.choice(len(bounds), p=self.stationary))]
        for draw in rng.random(steps - 1).tolist():
            path.append(destinations[path[-1]][bisect(bounds[path[-1]], draw)])
        return np.array(path, np.int64)


@dataclass(frozen=True)
class MarkovSource(Source):
    """Unlike Independent: a symbol depends on the `order` symbols before it, its context.

    The V contexts that differ in their oldest symbol only, and the V symbols, are both put around a
    ring in random order; the context at place i is followed by the symbols at places i .. i + J - 1.
    So every context has as many predecessors as successors, and neighbours on a ring are connected:
    a connected, balanced graph is strongly connected, hence no context is transient.
    """

    order: int = option(2, "symbols in a context", least=1, most=16)
    symbols: int = option(27, "size of the alphabet", least=2, most=len(ALPHABET))
    length: int = option(200_000, "symbols in a sample", least=1, most=MOST_LENGTH)
    seed: int = option(
        0, "random numbers: the probabilities, and the text of `generate`", least=0, most=MOST_SEED
    )
    successors: int = option(3, "symbols that can follow a context", least=2, most=len(ALPHABET))

    def __post_init__(self) -> None:
        if self.successors > self.symbols:
            raise ConfigError(
                "successors must be at most symbols",
                got=f"{self.successors} of {self.symbols}",
                do="Set both",
            )
        if self.symbols**self.order * self.successors > MOST_TRANSITIONS:
            raise ConfigError(
                f"symbols ** order * successors must be at most {MOST_TRANSITIONS}",
                got=self,
                do="Lower the order or the number of symbols",
            )

    @property
    def alphabet(self) -> str:
        """The first characters of ALPHABET."""
        return ALPHABET[: self.symbols]

    @cached_property
    def chain(self) -> SymbolChain:
        """From context to context. The number of a context counts its oldest symbol most: V a + b
        for "ab"."""
        rng, contexts = (
            np.random.default_rng(self.seed),
            np.arange(self.symbols**self.order)[:, None],
        )  # (C, 1)
        rings = np.tile(np.arange(self.symbols), (len(contexts) // self.symbols, 1))  # (C / V, V)
        recent = contexts % len(
            rings
        )  # (C, 1): without the oldest symbol; contexts of one ring agree in it
        place = rng.permuted(rings, axis=1).T.reshape(-1, 1)  # (C, 1)
        following = rng.permuted(rings, axis=1)[
            recent, (place + np.arange(self.successors)) % self.symbols
        ]  # (C, J)
        probability = rng.dirichlet(
            np.full(self.successors, 2.0), len(contexts)
        )  # 2: few are too rare to be counted
        return SymbolChain(recent * self.symbols + following, probability)

    @cached_property
    def entropy(self) -> float:
        """That of a context and its successor together, less that of the context."""
        share = self.chain.stationary
        return entropy_of(share[:, None] * self.chain.probability) - entropy_of(share)

    def sample(self, rng: np.random.Generator) -> Sequences:
        """One stream, a walk from context to context."""
        path = self.chain.walk(max(1, self.length - self.order + 1), rng)
        first = (
            path[0] // self.symbols ** np.arange(self.order)[::-1]
        )  # cut so that each ends with its symbol
        return self.as_sequences(
            np.append(first, path[1:])[None, : self.length] % self.symbols, by="stream"
        )

    def log_prob(self, text: Sequence[str]) -> np.ndarray:
        """(T,) by the context before; at the beginning summed over the contexts it may be."""
        symbols = self.as_symbols(text)
        context = np.convolve(
            np.append(0, symbols), self.symbols ** np.arange(self.order)
        )  # [t]: before symbol t
        earlier = context[: len(symbols)]
        matches = self.chain.destinations[earlier] % self.symbols == symbols[:, None]  # (T, J)
        chance = (self.chain.probability[earlier] * matches).sum(1)
        before = 1.0
        for t in range(
            min(self.order, len(symbols))
        ):  # too early for a whole context: sum over what may follow
            joint = self.chain.stationary.reshape(self.symbols ** (t + 1), -1)[context[t + 1]].sum()
            chance[t], before = joint / before, joint
        return log(chance)


@dataclass(frozen=True)
class HiddenMarkov(Source):
    """Unlike MarkovSource: the chain is hidden and each state says a symbol, so that the whole past
    matters, ever less.

    The entropy lies between two bounds that meet as n grows (Cover and Thomas, Elements of Information
    Theory, section 4.5); it is taken to be in the middle.

        H(Y_n | Y_1 .. Y_n-1, S_1)  <=  entropy  <=  H(Y_n | Y_1 .. Y_n-1)
    """

    states: int = option(3, "states of the hidden chain", least=1, most=8)
    symbols: int = option(
        4, "size of the alphabet; in a large one the bounds stay apart", least=2, most=8
    )
    length: int = option(100_000, "symbols in a sample", least=1, most=MOST_LENGTH)
    seed: int = option(
        0, "random numbers: the probabilities, and the text of `generate`", least=0, most=MOST_SEED
    )

    @property
    def alphabet(self) -> str:
        """The first characters of ALPHABET."""
        return ALPHABET[: self.symbols]

    @cached_property
    def chain(self) -> SymbolChain:
        """The hidden chain, whose states like to stay."""
        transition = np.random.default_rng(self.seed).dirichlet(
            np.ones(self.states), self.states
        )  # (C, C)
        return SymbolChain(
            np.tile(np.arange(self.states), (self.states, 1)),
            HABIT * np.eye(self.states) + (1 - HABIT) * transition,
        )

    @cached_property
    def emission(self) -> np.ndarray:
        """The probability of each symbol in each state: (C, V)."""
        favourite = np.eye(self.symbols)[np.arange(self.states) % self.symbols]
        return HABIT * favourite + (1 - HABIT) * np.random.default_rng([self.seed, 2]).dirichlet(
            np.ones(self.symbols), self.states
        )

    @property
    def entropy(self) -> float:
        """The middle between its two bounds."""
        return sum(self.entropy_bounds) / 2

    @cached_property
    def entropy_bounds(self) -> tuple[float, float]:
        """Both bounds, for the first n that brings them within 0.0001 nats or the last that fits
        into memory."""
        low, high = 0.0, np.inf
        with_state, without = (
            entropy_of(self.chain.stationary),
            0.0,
        )  # H(S_1, Y_1 .. Y_n-1), H(Y_1 .. Y_n-1)
        forward = np.diag(self.chain.stationary)[
            None
        ]  # (prefixes, C, C): p(S_1, Y_1 .. Y_n-1, S_n)
        while high - low > 1e-4 and forward.size * self.symbols <= MOST_CELLS:
            forward = (forward[:, None] * self.emission.T[:, None]).reshape(
                -1, self.states, self.states
            )
            joint = forward.sum(2)  # (prefixes, C): p(S_1, Y_1 .. Y_n)
            low, with_state = entropy_of(joint) - with_state, entropy_of(joint)
            high, without = entropy_of(joint.sum(1)) - without, entropy_of(joint.sum(1))
            forward = forward @ self.chain.probability
        return low, high

    def sample(self, rng: np.random.Generator) -> Sequences:
        """One stream: a walk that is not shown, and what each state says."""
        path = self.chain.walk(self.length, rng)
        symbols = np.empty((1, self.length), np.int64)
        for state in range(self.states):
            here = path == state
            symbols[0, here] = rng.choice(self.symbols, here.sum(), p=self.emission[state])
        return self.as_sequences(symbols, by="stream")

    def log_prob(self, text: Sequence[str]) -> np.ndarray:
        """(T,) by the forward algorithm."""
        chance, belief = (
            np.empty(len(text)),
            self.chain.stationary,
        )  # belief: p(state | symbols so far)
        for t, symbol in enumerate(self.as_symbols(text)):
            joint = belief * self.emission[:, symbol]
            chance[t] = joint.sum()
            belief = joint / chance[t] @ self.chain.probability
        return log(chance)


@dataclass(frozen=True)
class Brackets(Source):
    """Nested brackets: to close the right one, a model must keep a stack of up to `depth` open ones.

    At depth 0 a bracket always opens, at the bound it always closes, in between both are as likely; the
    kind that opens is uniform. Depths 0, 1 .. D - 1, D are visited in proportion to 1/2, 1 .. 1, 1/2, so
    that half of all symbols open, and all but 1/D of them were free to open or close:

        entropy = 1/2 log(kinds) + (1 - 1/D) log 2
    """

    kinds: int = option(3, "kinds of brackets", least=1, most=len(BRACKETS) // 2)
    depth: int = option(6, "most brackets open at once", least=1, most=1000)
    length: int = option(100_000, "symbols in a sample", least=1, most=MOST_LENGTH)
    seed: int = option(0, "random numbers: the text of `generate`", least=0, most=MOST_SEED)

    @property
    def alphabet(self) -> str:
        """Each kind of bracket, even numbers open and odd ones close."""
        return BRACKETS[: 2 * self.kinds]  # even numbers open, odd ones close

    @property
    def entropy(self) -> float:
        """As derived above."""
        return float(np.log(self.kinds) / 2 + (1 - 1 / self.depth) * np.log(2))

    def sample(self, rng: np.random.Generator) -> Sequences:
        """One stream of brackets, most of them free to open or close."""
        coins, kinds = rng.integers(2, size=self.length), rng.integers(self.kinds, size=self.length)
        symbols: list[int] = []
        stack: list[int] = []
        for heads, kind in zip(coins.tolist(), kinds.tolist()):
            if not stack or (heads and len(stack) < self.depth):
                stack.append(kind)
                symbols.append(2 * kind)
            else:
                symbols.append(2 * stack.pop() + 1)
        return self.as_sequences(np.array(symbols)[None], by="stream")

    def log_prob(self, text: Sequence[str]) -> np.ndarray:
        """(T,) by the stack of what is open."""
        chance = np.zeros(len(text))
        stack: list[int] = []
        for t, symbol in enumerate(self.as_symbols(text).tolist()):
            kind, closes = divmod(symbol, 2)
            opening = 1.0 if not stack else 0.5 if len(stack) < self.depth else 0.0
            if closes:
                chance[t] = (1 - opening) * (stack[-1:] == [kind])
                del stack[-1:]
            else:
                chance[t] = opening / self.kinds
                stack.append(kind)
        return log(chance)


@dataclass(frozen=True)
class Remember(Source):
    """Lines whose last symbol repeats the first, `distance` places earlier; the digits between tell nothing.

    A line has distance + 1 symbols and its end is scored as one more; the last symbol and the end
    are certain:

        entropy = (log(symbols) + (distance - 1) log 4) / (distance + 2)
    """

    distance: int = option(20, "places from a symbol to its repetition", least=1, most=10_000)
    symbols: int = option(8, "letters that can come first", least=2, most=26)
    sequences: int = option(20_000, "lines in a sample", least=1, most=1_000_000)
    seed: int = option(0, "random numbers: the text of `generate`", least=0, most=MOST_SEED)

    def __post_init__(self) -> None:
        if self.sequences * (self.distance + 1) > MOST_LENGTH:
            raise ConfigError(
                f"sequences * (distance + 1) must be at most {MOST_LENGTH}",
                got=self,
                do="Lower one of them",
            )

    @property
    def alphabet(self) -> str:
        """The letters that can come first, then the digits between."""
        return ALPHABET[: self.symbols] + FILLERS

    @property
    def entropy(self) -> float:
        """As derived above."""
        return float(
            (np.log(self.symbols) + (self.distance - 1) * np.log(len(FILLERS)))
            / (self.distance + 2)
        )

    def sample(self, rng: np.random.Generator) -> Sequences:
        """Lines of equal length."""
        first = rng.integers(self.symbols, size=(self.sequences, 1))
        between = self.symbols + rng.integers(
            len(FILLERS), size=(self.sequences, self.distance - 1)
        )
        return self.as_sequences(np.hstack([first, between, first]), by="line")

    def log_prob(self, text: Sequence[str]) -> np.ndarray:
        """(T + 1,) with the end of the line."""
        symbols = self.as_symbols(text)
        chance = np.zeros(len(symbols) + 1)
        for t, symbol in enumerate(symbols[: self.distance + 1]):
            if t == 0:
                chance[t] = (symbol < self.symbols) / self.symbols
            elif t < self.distance:
                chance[t] = (symbol >= self.symbols) / len(FILLERS)
            else:
                chance[t] = symbol == symbols[0]
        chance[-1] = len(symbols) == self.distance + 1
        return log(chance)


@dataclass(frozen=True)
class Piano(Source):
    """A piano roll: at each step the notes that sound, as MIDI numbers, "48+60+67"; or a rest, ".".

    Chords follow each other as states of a MarkovSource chain. The bass of a chord always sounds and
    tells it apart, each of the three notes above sounds with one probability, independently; so
    nothing is hidden and the entropy is exact:

        entropy = H(chord | chord before) + 3 (1 - share of rests) h(sounding)
    """

    length: int = option(50_000, "steps in a sample", least=1, most=MOST_LENGTH)
    seed: int = option(
        0,
        "random numbers: which chord follows which, and the notes of `generate`",
        least=0,
        most=MOST_SEED,
    )
    sounding: float = option(
        0.7, "how probable it is that a note above the bass sounds", least=0.01, most=0.99
    )

    @property
    def alphabet(self) -> tuple[str, ...]:
        """Eight sets of notes for each chord, the bits of their number telling which sound above
        the bass; then the rest."""
        sets = (
            (bass, *(note for bit, note in enumerate(above) if which >> bit & 1))
            for bass, *above in CHORDS
            for which in range(8)
        )
        return (*("+".join(map(str, sorted(notes))) for notes in sets), ".")

    @cached_property
    def chain(self) -> SymbolChain:
        """From chord to chord, with the rest as one more."""
        states = len(CHORDS) + 1
        return SymbolChain(
            np.tile(np.arange(states), (states, 1)),
            np.random.default_rng(self.seed).dirichlet(np.ones(states), states),
        )

    @property
    def entropy(self) -> float:
        """As derived above."""
        share, chance = self.chain.stationary, np.array([self.sounding, 1 - self.sounding])
        return (
            entropy_of(share[:, None] * self.chain.probability)
            - entropy_of(share)
            + 3 * float(1 - share[-1]) * entropy_of(chance)
        )

    def sample(self, rng: np.random.Generator) -> Sequences:
        """One stream of steps, each a token."""
        chords = self.chain.walk(self.length, rng)  # (T,)
        above = (rng.random((self.length, 3)) < self.sounding) @ np.array([1, 2, 4])  # (T,)
        symbols = np.where(chords < len(CHORDS), 8 * chords + above, 8 * len(CHORDS)).astype(
            np.int32
        )
        tokens = Field(symbols, offsets_of([self.length]), SYMBOLS, self.alphabet)
        return Sequences(
            {"tokens": tokens}, by="stream", unit="token", origin=repr(self), entropy=self.entropy
        )

    def log_prob(self, text: Sequence[str]) -> np.ndarray:
        """(T,) of each step: its chord, and the notes that sound in it."""
        chords, which = np.divmod(self.as_symbols(text), 8)  # (T,)
        before = np.concatenate(
            [self.chain.stationary[chords[:1]], self.chain.probability[chords[:-1], chords[1:]]]
        )
        many = (which[:, None] >> np.arange(3) & 1).sum(1)  # (T,) notes above the bass
        notes = many * np.log(self.sounding) + (3 - many) * np.log(1 - self.sounding)
        return log(before) + np.where(chords < len(CHORDS), notes, 0)


SOURCES: dict[str, type[Source]] = {
    "independent": Independent,
    "markov": MarkovSource,
    "hidden-markov": HiddenMarkov,
    "brackets": Brackets,
    "remember": Remember,
    "piano": Piano,
}


def parse_source(description: str) -> Source:
    """A source from its name and parameters, such as "markov" or "markov:order=3,seed=1"."""
    return parse(description, SOURCES)


def parse(description: str, known: Mapping[str, type[Generated]]) -> Generated:
    """One of several kinds of generated data, from its name and parameters."""
    name, given = description.partition(":")[0], settings_of(description)
    if name not in known:
        raise ConfigError(
            f"there is no source called {name!r}", got=description, do=nearest(name, known)
        )
    given.pop("draw", None)
    chosen: Any = known[name]
    return build(chosen, given, where=name, do=f"Write for instance {name}:seed=1")


def settings_of(description: str) -> dict[str, str]:
    """The settings behind the name of a corpus, as written."""
    name, colon, settings = description.partition(":")
    given: dict[str, str] = {}
    for setting in settings.split(",") if colon else ():
        key, _, value = (part.strip() for part in setting.partition("="))
        if key in given:
            raise ConfigError(f"{name}: {key} is given twice", got=description)
        given[key] = value
    return given


class Sampled(Protocol):
    """What data can be generated from: it samples with random numbers, by default those of its seed."""

    @property
    def seed(self) -> int:
        """Which one of its kind it is."""

    def sample(self, rng: np.random.Generator) -> Sequences:
        """Data drawn with these random numbers."""


def generate(description: str, known: Mapping[str, type[Sampled]] = SOURCES) -> Sequences:
    """A text of the source described, always the same one; `draw=2` gives another text of the same source."""
    source: Sampled = parse(description, known)
    draw = settings_of(description).get("draw", "1")
    if not draw.isdecimal():
        raise ConfigError("draw must be a whole number", got=draw)
    return replace(
        source.sample(np.random.default_rng([source.seed, int(draw)])), origin=description
    )
