"""Sequence to sequence: one stack reads the source, another writes the target and attends to
what was read.

    F = encoder(x_1 .. x_P)           (P, D): a vector for each position of the source
    p(y_t | y_1 .. y_{t-1}, x) = softmax(O tanh(W [h_t ; c_t]))

    one vector     c_t = c = pool(F),  h_t = decoder([E y_{t-1} ; c])             Cho et al. 2014
    attends after  c_t = F softmax(F^T V h_t)                                   Luong et al. 2015
    attends before c_t = F softmax(F^T V h_{t-1}),
                   h_t = decoder([E y_{t-1} ; c_t], h_{t-1}),
                   p(y_t | ..) = softmax(O h_t)                              Bahdanau et al. 2015
    transformer    every block of the decoder attends to F between its
                   mixer and its feed-forward part                            Vaswani et al. 2017

    several sources F = [F_1 + s_1 ; F_2 + s_2 ; ...]   (P_1 + P_2 + ..., D),  F_i = encoder_i(x^i),
                   c = mean of pool(F_i)                   Libovicky and Helcl 2017 (flat attention)

Sources of different kinds have an encoder each; s_i says which source a vector is of, and all are
attended to as one.

Unlike a language model, which it is in all else, its state begins with a source: `start` reads it,
and what is kept of it is shared by all rows that write about it. A recurrent decoder begins in
tanh(B c). With `input_feeding`, tanh(W [h_t ; c_t]) is also an input of the next step. Shapes: B rows, P
source, T time, D width, V symbols.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from seriatim.batches import Batch
from seriatim.distributions.symbols import Distribution
from seriatim.errors import ConfigError
from seriatim.layers.cross import Cross
from seriatim.layers.linear import Linear
from seriatim.layers.mixer import MixerState
from seriatim.layers.pool import Pool
from seriatim.layers.randomness import uniform
from seriatim.layers.recurrent import STATES
from seriatim.layers.source_ngrams import Grams
from seriatim.models.attending import attended, attending
from seriatim.models.base import Model, Shared, State
from seriatim.models.network import Network
from seriatim.models.stack import Whole
from seriatim.settings import refuse_idle
from seriatim.tasks.translate.options import TranslateOptions

MOST = 1 << 27  # numbers in a table of n-grams: half a gigabyte


WIDTHS = ((100_000, 64), (500_000, 128), (math.inf, 256))  # up to so many symbols of training
MARK = 0.1
MOST_ATTENDING = 128  # of a transformer, whose blocks are many


def sized(options: TranslateOptions, seen: int) -> TranslateOptions:
    """The same with a width: as asked for, or as so many symbols of training call for. A small one
    on little data makes many more updates in its time, and knows less by heart."""
    if options.width:
        return options
    width = next(width for most, width in WIDTHS if seen <= most)
    many = options.mixer == "attention"
    return replace(options, width=min(width, MOST_ATTENDING) if many else width)


class EncoderDecoder(Network):
    """State: what is kept of the source (Shared: its lengths, then the vector, or keys and values
    for each part that attends to it), the input that is fed (B, D or 0), then the states of the
    decoder's blocks."""

    options: TranslateOptions

    def __init__(
        self,
        vocabulary: int,
        options: TranslateOptions,
        sources: int,
        numbers: int = 0,
        shared: bool = False,
        seen: int = 0,
        further: tuple[tuple[int, int], ...] = (),
    ):
        options = sized(options, seen)
        super().__init__(vocabulary, options)
        # weights that are left out are put into the module, where other threads would see them
        self.divisible = not options.weight_dropout
        width, attending, matrix = (options.width, options.mixer == "attention", options.attends)
        before = matrix == "before"
        refuse_order(options, numbers)
        reading = replace(
            options,
            mixer=options.encoder_mixer or options.mixer,
            layers=options.encoder_layers or options.layers,
        )
        self.source = None if shared else source_layer(sources, numbers, width)
        self.source_ngrams = source_ngrams_of(options, vocabulary if shared else sources)
        self.encoder = Whole(reading)
        # what is read beside the source, each with an encoder of its own
        self.also = nn.ModuleList(Further(*each, reading) for each in further)
        self.kinds = source_marks(1 + len(further), width) if further and matrix else None
        self.pool = pool_of(reading)
        self.cross = (
            Cross(width, options.heads, options.score, options.maps, options.head_width)
            if matrix and not attending
            else None
        )
        self.entry = (
            Linear(2 * width, width) if options.input_feeding or before or not matrix else None
        )
        self.exit = Linear(2 * width, width) if not (matrix and attending) and not before else None
        self.bridge = bridge_of(options)

    def crossing(self) -> Cross | None:
        """The part of a block that attends to the source, where blocks have one."""
        o = self.options
        return (
            Cross(o.width, o.heads, o.score, o.maps, o.head_width)
            if o.mixer == "attention" and o.attends
            else None
        )

    @property
    def bounded(self) -> bool:
        """Whether hidden vectors stay between -1 and 1, as tanh or gates leave them."""
        if self.options.attends == "before":
            return not self.options.residual
        return self.exit is not None

    @property
    def further(self) -> list[Further]:
        """What reads further sources."""
        return [each for each in self.also if isinstance(each, Further)]

    @property
    def attending(self) -> list[Cross]:
        """The parts that attend to the source."""
        several = [*(block.cross for block in self.blocks), self.cross]
        return [each for each in several if isinstance(each, Cross)]

    # -- the source
    def opening(self, batch: Batch) -> State:
        """The state in which the source has been read and nothing was written."""
        read, lengths, whole = self.everything(batch)
        kept = (
            [part for each in self.attending for part in each.remember(read)]
            if self.options.attends
            else [whole]
        )
        inner = self.empty(len(read))
        if self.bridge is not None:
            begin = [torch.tanh(each(whole)) for each in self.bridge]
            inner = (
                tuple(tuple(each.chunk(2, -1)) for each in begin)
                if isinstance(inner[0], tuple)
                else tuple(begin)
            )
        fed = whole.new_zeros(len(read), self.options.width if self.options.input_feeding else 0)
        owner = torch.arange(len(read), device=read.device)
        return (Shared((owner, lengths, *kept)), fed, *inner)

    def everything(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """All that is read: (B, P, D) vectors, (B,) lengths, (B, D) one vector; of several sources
        one after another, and the mean of their vectors."""
        lengths = batch.x_lengths.clamp(min=1)
        x = self.embedding(batch.x) if self.source is None else self.source(batch.x)  # (B, P, D)
        x = x if self.source_ngrams is None else x + self.source_ngrams(batch.x, lengths)
        several = [(self.encoder(self.dropout(x), lengths, batch.x), lengths)]
        wholes = [whole_of(self.pool, self.encoder, *several[0])]
        for reader, (other, size) in zip(self.further, batch.also, strict=True):
            size = size.clamp(min=1)
            several.append((reader(other, size, self.dropout), size))
            wholes.append(whole_of(reader.pool, reader.encoder, *several[-1]))
        if len(several) == 1:
            return *several[0], wholes[0]
        if self.kinds is not None:
            marks = self.kinds.weight  # (1 + sources, D)
            several = [(read + marks[i], size) for i, (read, size) in enumerate(several)]
        return *packed(several), torch.stack(wholes).mean(0)

    def heard(self, memory: Shared, places: int) -> tuple[tuple, ...]:
        """For each part that attends: keys, values, mask and how many rows share them."""
        beams, (lengths, *kept) = memory.grouped()
        mask = (
            None
            if int(lengths.min()) == places
            else (torch.arange(places, device=lengths.device) < lengths[:, None])[:, None, None]
        )  # (M, 1, 1, P)
        return tuple((*pair, mask, beams) for pair in zip(kept[::2], kept[1::2], strict=True))

    # -- the target
    def run(
        self, symbols: Tensor, state: State, lengths: Tensor | None = None
    ) -> tuple[Tensor, State]:
        """(B, T) symbols -> (B, T, D) what is said after each, given the source in the state."""
        memory, fed, *inner = state
        matrix = self.options.attends
        heard = self.heard(memory, memory[2].shape[2]) if matrix else ()
        vector: Tensor = fed if matrix else memory[2][memory[0]]  # (B, D)
        x, columns, before = self.dropout(self.embed(symbols)), [], matrix == "before"
        for part in x.split(1, 1) if self.options.input_feeding or before else (x,):
            if before and self.cross is not None:
                vector = self.cross(last(inner)[:, None], *heard[0])  # (B, 1, D)
            if self.entry is not None:
                part = self.entry(beside(part, fed if self.options.input_feeding else vector))
            hidden, inner = self.through(
                part, tuple(inner), None, heard if self.cross is None else ()
            )
            if self.exit is not None:
                other = vector if self.cross is None else self.cross(hidden, *heard[0])
                hidden = self.dropout(torch.tanh(self.exit(beside(hidden, other))))
            fed = hidden[:, -1] if self.options.input_feeding else fed
            columns.append(hidden)
        return torch.cat(columns, 1) if len(columns) > 1 else columns[0], (memory, fed, *inner)

    def start(self, batch: Batch) -> tuple[Distribution, State]:
        """What each target begins with, and the state that holds the source."""
        hidden, state = self.run(
            self.opened(batch.x.new_zeros(len(batch.x), 0, dtype=torch.long)), self.opening(batch)
        )
        return self.read(hidden[:, 0]), state

    def unroll(self, batch: Batch, state: State = None) -> tuple[Distribution, State]:
        """Every symbol of the targets given those before it; in training some are the model's
        own."""
        begin, inputs = self.opening(batch), self.opened(batch.y[:, :-1])
        if self.training and self.options.scheduled_sampling:
            inputs = self.guessed(inputs, begin)
        hidden, state = self.run(inputs, begin)
        return self.read(hidden), state

    def guessed(self, inputs: Tensor, begin: State) -> Tensor:
        """The inputs with some of them replaced by what the model itself would have written there:
        two passes instead of a step at a time, after Mihaylova and Martins 2019."""
        with torch.no_grad():
            own = self.read(
                self.run(inputs, begin)[0]
            ).mode()  # (B, T), own[:, t] for inputs[:, t + 1]
        mixed = (
            uniform(own[:, :-1].shape, own.device) < self.options.scheduled_sampling * self.spent
        )
        return torch.cat([inputs[:, :1], torch.where(mixed, own[:, :-1], inputs[:, 1:])], 1)

    rewind = Model.rewind

    @torch.no_grad()
    def trace(self, batch: Batch) -> dict[str, Tensor]:
        """attention.L (B, H, T, P): how much of the source each part that attends hears while y is
        written."""
        found = attended(
            self.attending, lambda: self.run(self.opened(batch.y[:, :-1]), self.opening(batch))
        )
        return {f"attention.{layer}": weights for layer, weights in enumerate(found)}

    def encoder_maps(self, batch: Batch) -> list[Tensor]:
        """(B, H, P, P) for each layer of the encoder that attends: who attends to whom in the
        source, the first if there are several."""
        return attended(attending(self.encoder), lambda: self.opening(batch))


def refuse_order(options: TranslateOptions, numbers: int) -> None:
    """Orders of attending and stepping that this decoder cannot have; and trees of numbers."""
    got = f"--mixer {options.mixer} --attends {options.attends}"
    if options.attends == "before" and options.mixer not in STATES:
        raise ConfigError(
            "before a step only a recurrent decoder has a state to ask with",
            got=got,
            do="Use --attends after, or rnn, gru or lstm",
        )
    if numbers and options.encoder_mixer == "tree":
        raise ConfigError(
            "a tree is read from brackets among symbols",
            got="--encoder-mixer tree, a source of numbers",
            do="Choose another --encoder-mixer",
        )
    if options.input_feeding and (options.mixer == "attention" or options.attends != "after"):
        raise ConfigError(
            "what is fed is what was attended to after a step, by a decoder without self-attention",
            got=got,
            do="Leave out --input-feeding, or use rnn, gru or lstm with --attends after",
        )


def last(states: Sequence[MixerState]) -> Tensor:
    """(B, D) h of the last of the recurrent blocks."""
    return states[-1][0] if isinstance(states[-1], tuple) else states[-1]


def source_layer(sources: int, numbers: int, width: int) -> nn.Module:
    """How a source is read: symbols are embedded, numbers are mapped."""
    return nn.Linear(numbers, width) if numbers else nn.Embedding(sources, width)


def source_marks(many: int, width: int) -> nn.Embedding:
    """What is added to a vector to say which source it is of, small beside what was read."""
    marks = nn.Embedding(many, width)
    nn.init.normal_(marks.weight, std=MARK)
    return marks


def bridge_of(options: TranslateOptions) -> nn.ModuleList | None:
    """From the vector of the source to the first state of each block, where blocks have states."""
    many = STATES.get(options.mixer)
    if many is None:
        return None
    width = options.width
    return nn.ModuleList(Linear(width, many * width) for _ in range(options.layers))


def source_ngrams_of(options: TranslateOptions, symbols: int) -> Grams | None:
    """The table of n-grams around each symbol of the source, if there is one."""
    refuse_idle(
        options, "source_ngrams", ("cells", "source_ngrams_dropout"), "n-grams of the source", 6
    )
    if not options.source_ngrams:
        return None
    if not symbols or options.source_ngrams == 1:
        raise ConfigError(
            "n-grams of the source are of two symbols or more",
            got=f"--source-ngrams {options.source_ngrams}{'' if symbols else ', sources of numbers'}",
            do="Use --source-ngrams 4, or leave it out" if symbols else "Leave out --source-ngrams",
        )
    if not options.bidirectional:
        raise ConfigError(
            "n-grams of the source look ahead",
            got=f"--source-ngrams {options.source_ngrams} --bidirectional false",
            do="Leave out one of them",
        )
    if options.cells * options.width > MOST:
        raise ConfigError(
            "a table of n-grams would be too large",
            got=f"{options.cells:,} cells of {options.width:,} numbers each",
            do=f"Use --cells {max(1, MOST // options.width)} or fewer",
        )
    return Grams(
        symbols, options.source_ngrams, options.cells, options.width, options.source_ngrams_dropout
    )


def pool_of(options: TranslateOptions) -> Pool:
    """From the vectors of a source to one: where recurrence ends, the root of a tree, or the mean."""
    tree = options.mixer == "tree"
    kind = "last" if tree or options.mixer in STATES else "mean"
    return Pool(kind, options.width, options.bidirectional and not tree)


def whole_of(pool: Pool, encoder: Whole, read: Tensor, lengths: Tensor) -> Tensor:
    """(B, P, D) vectors of a source -> (B, D). The root of a tree stands before the end."""
    whole: Tensor = pool(read, (lengths - int(encoder.by_trees)).clamp(min=1))
    return whole


class Further(nn.Module):
    """What reads a further source: its embedding, or map of numbers, and its encoder."""

    def __init__(self, symbols: int, numbers: int, options: TranslateOptions):
        super().__init__()
        self.layer = source_layer(symbols, numbers, options.width)
        if numbers and options.mixer == "tree":  # which have no brackets: each by itself
            options = replace(options, mixer="none")
        self.encoder, self.pool = Whole(options), pool_of(options)

    def forward(self, x: Tensor, lengths: Tensor, dropout: nn.Module) -> Tensor:
        """(B, P) symbols or (B, P, C) numbers, (B,) lengths -> (B, P, D)."""
        read: Tensor = self.encoder(dropout(self.layer(x)), lengths, x)
        return read


def packed(several: Sequence[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    """Several (B, P_i, D) with (B,) lengths -> (B, P, D) in which the real positions of all stand one
    after another and padding behind them, and (B,) how many there are."""
    lengths = torch.stack([size for _, size in several]).sum(0)  # (B,)
    real = torch.cat([real_places(x, size) for x, size in several], 1)  # (B, P_1 + P_2 + ...)
    order = (~real).to(torch.uint8).argsort(dim=1, stable=True)[:, : int(lengths.max())]  # (B, P)
    x = torch.cat([x for x, _ in several], 1)
    return x.gather(1, order[..., None].expand(-1, -1, x.shape[-1])), lengths


def real_places(x: Tensor, lengths: Tensor) -> Tensor:
    """(B, P, D), (B,) -> (B, P): where there is no padding."""
    return torch.arange(x.shape[1], device=x.device) < lengths[:, None]


def beside(x: Tensor, other: Tensor) -> Tensor:
    """(B, T, D) and (B, D) or (B, T, D) -> (B, T, 2 D)."""
    return torch.cat([x, other if other.dim() == 3 else other[:, None].expand_as(x)], -1)
