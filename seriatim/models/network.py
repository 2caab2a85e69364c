"""The neural rungs: embed, mix, predict. They differ only in how a position hears the others.

    x_t = E[y_{t-1}],   h = blocks(x),   p(y_t | y_1 .. y_{t-1}) = softmax(E h_t + b)

Unlike a count model, which knows a context or does not, a network places contexts in a space where
similar ones lie close, and so learns from contexts it has never seen. Symbol V is this model's
START. Shapes: B rows, P prompt, T time, D width, V symbols.
"""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor, nn

from seriatim.batches import Batch
from seriatim.distributions.symbols import Categorical, Distribution, Readout
from seriatim.layers.attention import Attention, shortened
from seriatim.layers.block import NORMS, Alone, Block
from seriatim.layers.convolution import Convolution
from seriatim.layers.cross import Cross
from seriatim.layers.dropout import Dropout
from seriatim.layers.int8 import Int8Linear, quantised
from seriatim.layers.linear import LARGE
from seriatim.layers.mixer import Mixer, mixers
from seriatim.layers.positions import Frame, Places
from seriatim.layers.recurrent import Recurrent
from seriatim.layers.stepping import can_step, plain, stepped
from seriatim.models.base import NeuralModel, State
from seriatim.models.options import NetworkOptions, refuse_foreign

# tied weights: how much longer bounded vectors are made, so that they can be sure of something
SHARPER = 4


def mixer(options: NetworkOptions, layer: int) -> Mixer:
    """The part that hears the past, for one layer."""
    if options.mixer == "none":
        return Alone()
    if options.mixer == "convolution":
        return Convolution(
            options.width,
            options.kernel,
            dilation(options, layer),
            options.gated,
            options.activation,
        )
    if options.mixer == "attention":
        return Attention(
            options.width,
            options.heads,
            options.score,
            options.maps,
            options.positions == "rotary",
            options.head_width,
        )
    return recurrence(options, options.width, options.width)


def dilation(options: NetworkOptions, layer: int) -> int:
    """How many positions lie between two that a convolution hears, itself included."""
    return options.dilation or 2 ** (layer % 10)


def places(options: NetworkOptions) -> Places | None:
    """Where everything stands, for stacks of attention."""
    if options.mixer != "attention":
        return None
    size = options.head_width or options.width // options.heads
    return Places(options.positions, options.width, size, options.context)


def recurrence(options: NetworkOptions, width: int, inputs: int) -> Recurrent:
    """A cell of this width, for inputs of that one."""
    return Recurrent(
        options.mixer,
        width,
        options.activation,
        options.initial,
        options.weight_dropout,
        inputs,
        options.cell_output,
        options.norm_inside,
        options.radius,
    )


def block(options: NetworkOptions, part: Mixer, cross: Cross | None = None) -> Block:
    """One layer of a stack around a mixer, and where it is to hear another sequence around that."""
    return Block(
        options.width,
        part,
        options.residual,
        options.norm,
        options.norm_place,
        int(options.width * options.feed_forward),
        options.feed_forward_activation,
        options.dropout,
        cross,
    )


class Network(NeuralModel):
    """One stack for every mixer. The state is the tuple of the parts' states."""

    options: NetworkOptions
    learned: int  # how many values were learned, once they are stored in another way
    output: nn.Linear | None  # None: the embedding's weights serve, or there is a `head`
    head: nn.Module | None  # in the place of the output layer: see `quantise`

    def __init__(self, vocabulary: int, options: NetworkOptions):
        super().__init__()
        refuse_foreign(options)
        self.options, self.vocabulary, self.learned = options, vocabulary, 0
        self.embedding = nn.Embedding(vocabulary + 1, options.width)  # the last row is START
        self.embedding.weight.requires_grad_(not options.frozen)
        self.dropout = Dropout(options.dropout)
        self.blocks = nn.ModuleList(
            block(options, mixer(options, layer), self.crossing())
            for layer in range(options.layers)
        )
        self.places = places(options)
        self.norm = (
            NORMS[options.norm](options.width)
            if options.residual and options.norm_place == "before"
            else nn.Identity()
        )
        self.bias = nn.Parameter(torch.zeros(vocabulary)) if options.output_bias else None
        self.output = None if options.tied else nn.Linear(options.width, vocabulary, bias=False)
        self.head = None
        if options.mixer == "attention" and options.positions == "learned":
            self.longest, self.warm = options.context, options.context // 2

    def crossing(self) -> Cross | None:
        """The part of a block that hears another sequence: none."""
        return None

    def begin_with(self, numbers: list[int], vectors: Tensor) -> None:
        """Put (N, D) vectors into the embedding, in the rows of these symbols, at the size the
        others have."""
        with torch.no_grad():
            self.embedding.weight[numbers] = vectors / vectors.pow(2).mean().sqrt().clamp(min=1e-12)

    def run(
        self, symbols: Tensor, state: State, lengths: Tensor | None = None
    ) -> tuple[Tensor, State]:
        """(B, T) symbols -> (B, T, D) hidden vectors, state after each row's length."""
        return self.through(self.dropout(self.embed(symbols)), state, lengths)

    def embed(self, symbols: Tensor) -> Tensor:
        """(B, T) symbols -> (B, T, D), unit variance."""
        return self.embedding(symbols)

    def through(
        self, x: Tensor, state: State, lengths: Tensor | None = None, memories: tuple = ()
    ) -> tuple[Tensor, State]:
        """(B, T, D) embedded symbols -> (B, T, D) hidden vectors, state after each row's length.
        Blocks that hear another sequence are given what each hears of it."""
        states: list[State] = []
        frame: tuple[Frame, ...] = ()
        if self.places is not None:
            x, after, shared = self.places(x, state[0], lengths)
            states, state, frame = [after], state[1:], (shared,)
            if not self.training and can_step(x, shared) and self.quick:
                x, later = stepped(mixers(self.blocks), x, state, shared, memories)
                return self.norm(x), (*states, *later)
        for layer, (block, before) in enumerate(zip(self.blocks, state, strict=True)):
            x, after = block(
                x, before, lengths, *frame, **({"memory": memories[layer]} if memories else {})
            )
            states.append(after)
        return self.norm(x), tuple(states)

    @cached_property
    def quick(self) -> bool:
        """Whether single steps are taken by compiled code."""
        return (
            all(map(plain, self.blocks))
            and sum(each.numel() for each in self.blocks.parameters()) >= LARGE
        )

    def read(self, hidden: Tensor) -> Distribution:
        """(..., D) hidden vectors -> (...) distributions."""
        return self.categorical(hidden)

    def categorical(self, hidden: Tensor) -> Categorical:
        """(..., D) hidden vectors -> (..., V) distributions of symbols."""
        if self.options.tied:
            hidden = hidden * (self.options.width**-0.5 * (SHARPER if self.bounded else 1))
        return (
            Readout(hidden, *self.readout())
            if self.head is None
            else Categorical(self.head(hidden))
        )

    @property
    def bounded(self) -> bool:
        """Whether hidden vectors stay between -1 and 1, as gates leave them, rather than have unit
        variance, as norms make them."""
        return not self.options.residual

    def readout(self) -> tuple[Tensor, Tensor | None]:
        """(V, D) and (V,): what the hidden vectors are compared with."""
        return self.embedding.weight[:-1] if self.output is None else self.output.weight, self.bias

    def quantise(self) -> bool:
        """Store the weights of all linear maps in 8 bits, for inference; afterwards the model can
        be neither trained nor saved."""
        self.learned = self.size()
        head = Int8Linear(*self.readout())
        self.output = None
        quantised(self)
        self.head, self.quick = head, False
        return True

    def size(self) -> int:
        """Number of learned values, also when they are stored in 8 bits."""
        return self.learned or super().size()

    def empty(self, rows: int) -> State:
        """The state before anything is read, not even START."""
        return self.resting(rows)

    def resting(self, rows: int) -> State:
        """The state of the stack alone, before anything is read."""
        places = () if self.places is None else (self.places.empty(rows, self.device),)
        return (*places, *(each.empty(rows, self.device) for each in mixers(self.blocks)))

    def begin(self, batch: Batch) -> Tensor:
        """(B, 1 + P): START, then the prompt."""
        return self.opened(batch.x)

    def opened(self, symbols: Tensor) -> Tensor:
        """(B, T) symbols -> (B, 1 + T): START, then these."""
        return torch.cat([symbols.new_full((len(symbols), 1), self.vocabulary), symbols], 1)

    def start(self, batch: Batch) -> tuple[Distribution, State]:
        """What comes first after START and batch.x."""
        symbols = self.begin(batch)
        ragged = bool((batch.x_lengths < batch.x.shape[1]).any())
        hidden, state = self.run(
            symbols, self.empty(len(symbols)), batch.x_lengths + 1 if ragged else None
        )
        return self.read(
            hidden[torch.arange(len(hidden), device=hidden.device), batch.x_lengths]
        ), state

    def extend(self, y: Tensor, state: State) -> tuple[Distribution, State]:
        """All of y in one pass."""
        hidden, state = self.run(y, state)
        return self.read(hidden), state

    def rewind(self, after: State, before: State, y: Tensor, kept: int) -> State:
        """Attention forgets the last keys and values (`after` is used up by that); other mixers, or
        a window that has moved on, read again."""
        gone = y.shape[1] - kept
        if self.places is None or after[0][0].shape[1] >= self.options.context - 1:
            return super().rewind(after, before, y, kept)
        (places, seen), *memories = after
        return (
            (places[:, : places.shape[1] - gone], seen - gone),
            *(tuple(shortened(each, 0, gone) for each in memory) for memory in memories),
        )

    def unroll(self, batch: Batch, state: State = None) -> tuple[Distribution, State]:
        """Where nothing stands before y, START and y in one pass."""
        if state is not None or batch.x.shape[1]:
            return super().unroll(batch, state)
        hidden, state = self.run(self.opened(batch.y[:, :-1]), self.empty(len(batch)))
        return self.read(hidden), state  # one pass, nothing behind

    @torch.no_grad()
    def trace(self, batch: Batch) -> dict[str, Tensor]:
        """What each layer L does while START, x and all of y but its end are read; prompts x of
        equal length, T = 1 + P + len(y) - 1.

        attention.L (B, H, T, T) who attends to whom;  hidden.L (B, T, D) a recurrent layer's outputs;
        gates.L (B, T, G, D), see `Recurrent.gates`.
        """
        x = self.embed(self.opened(torch.cat([batch.x, batch.y[:, :-1]], 1)))
        found: dict[str, Tensor] = {}
        frame: tuple[Frame, ...] = ()
        states = self.resting(len(batch))
        if self.places is not None:
            x, _, shared = self.places(x, states[0])
            states, frame = states[1:], (shared,)
        for layer, (block, state) in enumerate(zip(self.blocks, states, strict=True)):
            part = block.mixer if isinstance(block, Block) else None
            heard = block.norm(x) if isinstance(block, Block) and not block.after else x
            if isinstance(part, Attention):
                found[f"attention.{layer}"] = part.weights(heard, state, None, frame[0])
            elif isinstance(part, Recurrent):
                hidden = found[f"hidden.{layer}"] = part(heard, state)[0]
                gates = part.gates(heard, hidden, state)
                if gates is not None:
                    found[f"gates.{layer}"] = gates
            x = block(x, state, None, *frame)[0]
        return found
