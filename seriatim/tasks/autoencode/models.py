"""A sequence through one vector and back: one stack reads it, another writes it again and knows
nothing else of it.

    plain        z = A pool(encoder(x))                                       Li et al. 2015
                 p(x_t | x_1 .. x_{t-1}, z) = head(decoder(x_1 .. x_{t-1}, z))
    variational  q(z | x) = normal(m(x), s(x)^2),   p(z) = normal(0, 1)       Kingma, Welling 2014
                 log p(x) >= E_q log p(x | z) - KL(q(z | x) || p(z))          Bowman et al. 2016
    conditioned  with labels beside z, or in its place: p(x | label), a language model conditioned
                 on them

Unlike an encoder-decoder that translates, the target is the source, and all that passes is a vector
of few numbers: what lies near it, between two, or is drawn at random, is a sequence, too. Where the
writer can do without the vector it will, and the vector says nothing (collapse): against that the
price of the KL rises slowly, some nats are free, and inputs are left out. Sequences are symbols, or
numbers whose head is a mixture of normals and a state. Shapes: B rows, T time, D width, L latent
numbers, K told, C channels, S states.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seriatim.batches import Batch
from seriatim.codecs.symbols import UNKNOWN
from seriatim.distributions.heads import StrokeHead
from seriatim.distributions.symbols import Distribution
from seriatim.errors import ConfigError
from seriatim.layers.int8 import quantised
from seriatim.layers.linear import Linear
from seriatim.layers.pool import Pool
from seriatim.layers.randomness import normal_like, uniform
from seriatim.layers.recurrent import STATES
from seriatim.models.base import Model, State
from seriatim.models.network import Network
from seriatim.models.stack import Whole
from seriatim.tasks.autoencode.options import AutoencodeOptions

LABEL = 32  # numbers that stand for a label


CYCLES = 4  # of the price of the KL, if it is cyclic


class Autoencoder(Network):
    """State: what is added to every input (B, D), if anything, else (B, 0); then the states of the
    decoder's blocks."""

    options: AutoencodeOptions

    def __init__(
        self,
        vocabulary: int,
        options: AutoencodeOptions,
        channels: int = 0,
        labels: tuple[int, ...] = (),
    ):
        super().__init__(vocabulary, options)
        width, latent, self.channels = options.width, options.latent, channels
        if channels:
            # rows of numbers are mapped, not looked up
            self.add_module("embedding", nn.Linear(channels + vocabulary, width))
            self.output = self.bias = None
            self.density = StrokeHead(width, channels, options.components, vocabulary)
            self.first = nn.Parameter(torch.randn(width))  # START
        reading = replace(options, mixer=options.encoder_mixer or options.mixer)
        self.encoder = Whole(reading) if latent else None
        self.pool = Pool(
            "last" if reading.mixer in STATES else "mean", width, options.bidirectional
        )
        self.code = Linear(width, (1 + options.variational) * latent) if latent else None
        self.names = nn.ModuleList(nn.Embedding(many, LABEL) for many in labels)
        conditions, many = latent + LABEL * len(labels), STATES.get(options.mixer)
        state, every = (
            bool(conditions) and options.into != "every",
            bool(conditions) and options.into != "state",
        )
        self.bridge = (
            nn.ModuleList(Linear(conditions, many * width) for _ in range(options.layers))
            if state and many
            else None
        )
        self.entry = (
            Linear(conditions, width) if state and not many else None
        )  # without a state to begin with: beside START
        self.every = Linear(conditions, width) if every else None

    # -- reading
    def encode(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """The vector of each sequence (B, L), or its mean; and the logarithm of its variance (B,
        L), of plain ones minus infinity."""
        if self.encoder is None or self.code is None:
            nothing = torch.zeros(len(batch), 0, device=self.device)
            return nothing, nothing
        read = self.encoder(self.dropout(self.embed(batch.x)), batch.x_lengths)  # (B, T, D)
        code = self.code(self.pool(read, batch.x_lengths)).float()
        if not self.options.variational:
            return code, torch.full_like(code, -torch.inf)
        mean, spread = code.chunk(2, -1)
        return mean, spread.clamp(-10, 10)

    def condition(self, vectors: Tensor, labels: Tensor | None) -> Tensor:
        """(B, L) vectors and (B, G) labels -> (B, K) all that the decoder is conditioned on."""
        if labels is None:
            return vectors
        told = (names(labels[:, i]) for i, names in enumerate(self.names))
        return torch.cat([vectors, *told], -1)

    # -- writing
    def embed(self, y: Tensor) -> Tensor:
        """(B, T) symbols or (B, T, C + 1) numbers -> (B, T, D)."""
        if not self.channels:
            return self.embedding(y)
        return self.embedding(
            torch.cat([y[..., :-1], F.one_hot(y[..., -1].long(), self.vocabulary).to(y.dtype)], -1)
        )

    def inputs(self, y: Tensor) -> Tensor:
        """What the decoder hears of what was written: all, in training perhaps less, or nothing but
        that something was."""
        if not self.options.teacher_forcing:
            return self.opener().expand(*y.shape[:2], -1)
        share = self.options.word_dropout if self.training else 0.0
        if not share:
            return self.embed(y)
        left = uniform(y.shape[:2], y.device) >= share  # (B, T)
        return (
            self.embed(y) * left[..., None] if self.channels else self.embed(y.where(left, UNKNOWN))
        )

    def opener(self) -> Tensor:
        """(D,) START."""
        return self.first if self.channels else self.embedding.weight[-1]

    def opened_with(self, condition: Tensor) -> tuple[Tensor, State]:
        """(B, K) -> the first input (B, 1, D), and the state before it."""
        inner, begin = self.empty(len(condition)), self.opener().expand(len(condition), 1, -1)
        if self.bridge is not None:
            first = [torch.tanh(each(condition)) for each in self.bridge]
            inner = (
                tuple(tuple(each.chunk(2, -1)) for each in first)
                if isinstance(inner[0], tuple)
                else tuple(first)
            )
        if self.entry is not None:
            begin = begin + self.entry(condition)[:, None]
        return begin, (condition[:, :0] if self.every is None else self.every(condition), *inner)

    def hear(self, x: Tensor, state: State, lengths: Tensor | None = None) -> tuple[Tensor, State]:
        """(B, T, D) inputs -> (B, T, D) hidden vectors, state after each row's length."""
        added, *inner = state
        hidden, inner = self.through(
            self.dropout(x + added[:, None] if added.shape[1] else x), tuple(inner), lengths
        )
        return hidden, (added, *inner)

    def read(self, hidden: Tensor) -> Distribution:
        """(..., D) hidden vectors -> distributions: of symbols, or of rows of numbers."""
        return self.density(hidden) if self.channels else super().read(hidden)

    def begin_writing(
        self, condition: Tensor, prompts: Batch | None = None
    ) -> tuple[Distribution, State]:
        """What comes first, after the beginnings batch.x where there are any; and the state."""
        x, state = self.opened_with(condition)
        if prompts is None or not prompts.x.shape[1]:
            hidden, state = self.hear(x, state)
            return self.read(hidden[:, 0]), state
        hidden, state = self.hear(
            torch.cat([x, self.inputs(prompts.x)], 1), state, prompts.x_lengths + 1
        )
        return self.read(
            hidden[torch.arange(len(condition), device=hidden.device), prompts.x_lengths]
        ), state

    def rewrite(self, batch: Batch, vectors: Tensor) -> Distribution:
        """(B, T) distributions of every place of batch.y given what is before it, and these vectors
        (B, L)."""
        x, state = self.opened_with(self.condition(vectors, batch.labels))
        return self.read(self.hear(torch.cat([x, self.inputs(batch.y[:, :-1])], 1), state)[0])

    def start(self, batch: Batch) -> tuple[Distribution, State]:
        """Read batch.x, and begin to write it again."""
        return self.begin_writing(self.condition(self.encode(batch)[0], batch.labels))

    def extend(self, y: Tensor, state: State) -> tuple[Distribution, State]:
        """What follows each of (B, T) outputs, given those before it and the vector in the
        state."""
        hidden, state = self.hear(self.inputs(y), state)
        return self.read(hidden), state

    def unroll(self, batch: Batch, state: State = None) -> tuple[Distribution, State]:
        """Every sequence written again from its own vector; nothing is carried on."""
        return self.rewrite(batch, self.encode(batch)[0]), ()

    rewind = Model.rewind

    # -- learning
    def loss(
        self, batch: Batch, state: State = None, smoothing: float = 0.0
    ) -> tuple[Tensor, State]:
        """Nats per symbol: of what is written, and at the present price of what the vectors say."""
        if smoothing and self.channels:
            raise ConfigError(
                "numbers have no labels to smooth",
                got=f"label_smoothing {smoothing}",
                do="Leave out --label-smoothing",
            )
        mean, spread = self.encode(batch)
        vectors = (
            mean + torch.exp(spread / 2) * normal_like(mean) if self.options.variational else mean
        )
        count = batch.y_mask.sum().clamp(min=1)
        loss = -self.rewrite(batch, vectors).total(batch.y, batch.y_mask / count, smoothing)
        if self.options.variational and self.options.latent:
            loss = loss + self.price() * self.charged(mean, spread) * len(batch) / count
        return loss, ()

    def charged(self, mean: Tensor, spread: Tensor) -> Tensor:
        """(B, L) vectors -> nats a sequence that are to be paid for: the mean KL of each number
        falls into how far all vectors together are from the prior, and what tells them apart
        (Hoffman and Johnson 2016); only of the latter some is free, or it would be had by moving
        all at once."""
        variance = spread.exp().mean(0) + mean.var(
            0, correction=0
        )  # (L,) of all vectors together, as if they were normal
        together = (mean.mean(0).square() + variance - 1 - variance.log()) / 2
        apart = (variance.log() - spread.mean(0)) / 2
        return (together + apart.clamp(min=self.options.free_bits)).sum()

    def price(self) -> float:
        """Of the KL, at this time of training (Bowman et al. 2016; Fu et al. 2019)."""
        if self.options.annealing == "none":
            return 1.0
        place = self.spent if self.options.annealing == "linear" else self.spent * CYCLES % 1
        return min(1.0, place / self.options.rising)

    def quantise(self) -> bool:
        """Weights in 8 bits; the head of numbers stays as it is."""
        if not self.channels:
            return super().quantise()
        quantised(self)
        return True


def divergence(mean: Tensor, spread: Tensor) -> Tensor:
    """KL of normals with these means and logarithms of variances from the standard one, each number
    by itself."""
    return (mean.square() + spread.exp() - 1 - spread) / 2


class Writer(Model):
    """An autoencoder that is told what to write, batch.labels (B, K), instead of reading it:
    batch.x is how each row begins."""

    def __init__(self, model: Autoencoder):
        self.model, self.vocabulary = model, model.vocabulary

    @property
    def device(self) -> torch.device:
        """Where the autoencoder is."""
        return self.model.device

    def start(self, batch: Batch) -> tuple[Distribution, State]:
        """What each row begins with, given what it is told."""
        assert batch.labels is not None
        return self.model.begin_writing(batch.labels, batch)

    def extend(self, y: Tensor, state: State) -> tuple[Distribution, State]:
        """As the autoencoder goes on."""
        return self.model.extend(y, state)
