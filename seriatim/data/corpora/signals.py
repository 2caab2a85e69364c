"""Generated series whose best forecast is known: the error that no model can beat.

    seasonal         x_t = pattern of the hour + e_t
    autoregressive   x_t = a_1 x_t-1 + .. + a_p x_t-p + e_t
    random-walk      x_t = x_t-1 + e_t
    oscillator       x_t = damping R x_t-1 + e_t              R turns two channels into each other

On a random walk nothing is to be won: a model that beats the last value leaks. The last three are
linear, x_t = A x_t-1 + e_t with normal e of covariance Q (a state holds the last p values where
there are p), so the best forecast is A^h x and its error has a closed form (Hamilton, Time Series
Analysis, 1994, section 4.1):

    error of h steps = sum over j < h of  A^j Q A^jT

Shapes: T times, D channels, S numbers in a state, H steps ahead.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from seriatim.data.corpora.sources import MOST_SEED, generate, parse
from seriatim.data.moments import DAY
from seriatim.data.sequences import NUMBERS, Field, Sequences, offsets_of
from seriatim.settings import option

BEGIN = 1_704_067_200  # 2024-01-01, a Monday


MOST_LENGTH = 1_000_000  # times in one sample


class Signal(ABC):
    """What all signals share: the coefficients follow from `seed`, the noise from the generator
    given to `sample`."""

    seed: int

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> Sequences:
        """A series drawn from the signal."""

    @abstractmethod
    def best_error(self, horizon: int) -> np.ndarray:
        """The root mean squared error of the best forecast, 1 to `horizon` steps ahead, given all
        of the past: (H, D)."""

    def as_sequences(self, values: np.ndarray, time: np.ndarray) -> Sequences:
        """(T, D) values -> one series."""
        names = (
            ("value",)
            if values.shape[1] == 1
            else tuple(f"value{i}" for i in range(1, values.shape[1] + 1))
        )
        offsets = offsets_of([len(values)])
        return Sequences(
            {
                "values": Field(values, offsets, NUMBERS, names),
                "time": Field(time, offsets, NUMBERS),
            },
            by="stream",
            origin=repr(self),
        )


@dataclass(frozen=True)
class Seasonal(Signal):
    """A pattern that comes again each day, which has `period` steps, and noise that nothing tells
    in advance."""

    length: int = option(2000, "times in a sample", least=1, most=MOST_LENGTH)
    period: int = option(24, "steps of a day", least=2, most=1440)
    noise: float = option(
        0.3, "standard deviation of the noise; that of the pattern is 1", least=0, most=1e6
    )
    seed: int = option(
        0,
        "random numbers: the pattern, and the noise of `generate_signal`",
        least=0,
        most=MOST_SEED,
    )

    @cached_property
    def pattern(self) -> np.ndarray:
        """Waves of one to three periods a day, mean 0, standard deviation 1: (period,)."""
        rng, turns = np.random.default_rng(self.seed), np.arange(self.period) / self.period
        waves = [
            weight * np.sin(2 * np.pi * (many * turns + shift))
            for many, weight, shift in zip((1, 2, 3), (1, 0.6, 0.4), rng.random(3))
        ]
        pattern = np.sum(waves, 0)
        return (pattern - pattern.mean()) / pattern.std()

    def sample(self, rng: np.random.Generator) -> Sequences:
        """The pattern again and again, and noise on top."""
        steps = np.arange(self.length)
        values = self.pattern[steps % self.period] + self.noise * rng.standard_normal(self.length)
        return self.as_sequences(values[:, None], BEGIN + steps * (DAY / self.period))

    def best_error(self, horizon: int) -> np.ndarray:
        """That of the noise, however far ahead."""
        return np.full((horizon, 1), self.noise)


class LinearTrend(Signal):
    """Unlike Seasonal: a state turns into the next one by a matrix, and noise comes in."""

    channels = 1  # the first numbers of a state are what is seen
    length: int  # times in a sample
    noise: float  # standard deviation of what is new

    @property
    @abstractmethod
    def transition(self) -> np.ndarray:
        """A: (S, S)."""

    @property
    def covariance(self) -> np.ndarray:
        """Q: (S, S)."""
        return np.diag(
            np.where(np.arange(len(self.transition)) < self.channels, self.noise**2, 0.0)
        )

    @property
    def stationary(self) -> np.ndarray:
        """The covariance of a state after long: P = A P A' + Q, solved as linear equations: (S, S)."""
        size = len(self.transition)
        return np.linalg.solve(
            np.eye(size**2) - np.kron(self.transition, self.transition), self.covariance.ravel()
        ).reshape(size, size)

    def sample(self, rng: np.random.Generator) -> Sequences:
        """From a state that is as likely as any after long, step by step."""
        state = rng.multivariate_normal(
            np.zeros(len(self.transition)), self.stationary, method="eigh"
        )  # (S,)
        values = self.noise * rng.standard_normal((self.length, self.channels))  # (T, D)
        transition = self.transition
        for t in range(self.length):
            state = transition @ state
            state[: self.channels] += values[t]
            values[t] = state[: self.channels]
        return self.as_sequences(values, np.arange(self.length, dtype=np.float64))

    def best_error(self, horizon: int) -> np.ndarray:
        """The noise of all steps in between, carried on by the matrix."""
        error, total = self.covariance, np.zeros_like(self.covariance)
        errors = np.empty((horizon, self.channels))
        for h in range(horizon):
            total = total + error
            error = self.transition @ error @ self.transition.T
            errors[h] = np.sqrt(np.diag(total)[: self.channels])
        return errors


@dataclass(frozen=True)
class Autoregressive(LinearTrend):
    """A value is a weighted sum of the last ones and noise.

    Any partial autocorrelations between -1 and 1 belong to one stationary process
    (Barndorff-Nielsen and Schou, 1973), so these are drawn; the recursion of Durbin and Levinson
    gives the weights.
    """

    length: int = option(3000, "times in a sample", least=1, most=MOST_LENGTH)
    order: int = option(2, "how many values back it depends on", least=1, most=16)
    noise: float = option(1.0, "standard deviation of what is new in a value", least=0, most=1e6)
    seed: int = option(
        0,
        "random numbers: the weights, and the noise of `generate_signal`",
        least=0,
        most=MOST_SEED,
    )

    @cached_property
    def weights(self) -> np.ndarray:
        """Of the last value, of the one before, ..: (order,)."""
        rng, weights = np.random.default_rng(self.seed), np.zeros(0)
        for partial in rng.uniform(0.4, 0.9, self.order) * rng.choice([-1, 1], self.order):
            weights = np.append(weights - partial * weights[::-1], partial)
        return weights

    @property
    def transition(self) -> np.ndarray:
        """The weights give the next value; the values before move down by one."""
        return np.vstack(
            [self.weights, np.eye(self.order)[:-1]]
        )  # the rest of the state moves down by one


@dataclass(frozen=True)
class RandomWalk(LinearTrend):
    """Unlike Autoregressive: the weight is 1, so that the last value is the best forecast and the
    error grows for ever, as the root of h."""

    length: int = option(3000, "times in a sample", least=1, most=MOST_LENGTH)
    noise: float = option(1.0, "standard deviation of a step", least=0, most=1e6)
    seed: int = option(0, "random numbers: the noise of `generate_signal`", least=0, most=MOST_SEED)

    @property
    def transition(self) -> np.ndarray:
        """A value stays where it is."""
        return np.eye(1)

    @property
    def stationary(self) -> np.ndarray:
        """There is none: it begins at 0."""
        return np.zeros((1, 1))  # there is none: it begins at 0


@dataclass(frozen=True)
class Oscillator(LinearTrend):
    """Unlike Autoregressive: two channels, each of which needs the other one to be forecast."""

    length: int = option(3000, "times in a sample", least=1, most=MOST_LENGTH)
    noise: float = option(0.05, "standard deviation of what is new in a value", least=0, most=1e6)
    seed: int = option(0, "random numbers: the noise of `generate_signal`", least=0, most=MOST_SEED)
    period: float = option(30.0, "steps of one turn", above=2)
    damping: float = option(
        0.98, "share of the swing that is left after a step", above=0, most=0.9999
    )
    channels = 2

    @property
    def transition(self) -> np.ndarray:
        """A turn by one step, and a little damping."""
        sine, cosine = np.sin(2 * np.pi / self.period), np.cos(2 * np.pi / self.period)
        return self.damping * np.array([[cosine, -sine], [sine, cosine]])


SIGNALS: dict[str, type[Signal]] = {
    "seasonal": Seasonal,
    "autoregressive": Autoregressive,
    "random-walk": RandomWalk,
    "oscillator": Oscillator,
}


def parse_signal(description: str) -> Signal:
    """A signal from its name and parameters, such as "seasonal:period=7".

    >>> parse_signal("random-walk:noise=2").best_error(4).ravel().round(3).tolist()
    [2.0, 2.828, 3.464, 4.0]
    """
    return parse(description, SIGNALS)


def generate_signal(description: str) -> Sequences:
    """The series described, always the same one; `draw=2` gives another one of the same signal."""
    return generate(description, SIGNALS)
