"""The options of networks, which several tasks share."""

from __future__ import annotations

from dataclasses import dataclass

from seriatim.errors import ConfigError
from seriatim.settings import MemorySize, Numbers, changed, option

NO_LIMIT, KEEP_ALL = MemorySize(0), Numbers()
WITH_CELL = ("lstm", "coupled", "no-output-gate")  # h is made of a second vector, c
HEARING = ("rnn", "gru", "gru-before", "additive-recurrent", *WITH_CELL)  # of h at the last step
CELLS = (*HEARING, "additive")
MIXERS = ("none", *CELLS, "convolution", "attention")
WHOLE_MIXERS = (*MIXERS, "tree")  # of a sequence that is there as a whole


@dataclass(frozen=True)
class NetworkOptions:
    """Embedding, a stack of blocks around one kind of mixer, and a head."""

    mixer: str = option("lstm", "how a position sees the ones before it", choices=MIXERS)
    width: int = option(256, "size of the vector at each position", least=1, most=65536)
    layers: int = option(1, "number of blocks", least=1, most=1000)
    residual: bool = option(
        False, "add each part's input to its output, with a norm before or after"
    )
    norm: str = option("layer", "with residual: LayerNorm or RMSNorm", choices=("layer", "rms"))
    norm_place: str = option(
        "before",
        "with residual: before each part, or after it as in the first Transformer",
        choices=("before", "after"),
    )
    feed_forward: float = option(
        0.0,
        "width of the feed-forward part, in multiples of the width; 0 leaves it out",
        least=0,
        most=64,
    )
    feed_forward_activation: str = option(
        "gelu",
        "activation of the feed-forward part",
        choices=("relu", "gelu", "gelu-tanh", "gated"),
    )
    dropout: float = option(0.0, "share of activations dropped in training", least=0, most=0.95)
    weight_dropout: float = option(
        0.0, "recurrence: share of recurrent weights dropped in training", least=0, most=0.95
    )
    tied: bool = option(False, "the output layer shares the embedding's weights")
    output_bias: bool = option(
        True, "the output layer has a bias; without one a transformer can be written as a GPT-2"
    )
    activation: str = option(
        "tanh", "rnn and plain convolution: the nonlinearity", choices=("tanh", "sigmoid", "relu")
    )
    initial: str = option(
        "orthogonal",
        "recurrence: how the recurrent weights begin",
        choices=("orthogonal", "uniform"),
    )
    cell_output: str = option(
        "tanh",
        "lstm, coupled, no-output-gate: h is made of tanh(c), or of c itself",
        choices=("tanh", "linear"),
    )
    norm_inside: bool = option(
        False, "recurrence: LayerNorm of W x and of U h within each step (Ba et al. 2016)"
    )
    radius: float = option(
        0.0,
        "recurrence: scale the recurrent matrices to this spectral radius at the start; "
        "0 leaves them as --initial makes them",
        least=0,
        most=100,
    )
    heads: int = option(4, "attention: number of heads", least=1)
    context: int = option(128, "attention: how many positions back, itself included", least=1)
    score: str = option(
        "scaled",
        "attention: how well a query fits a key",
        choices=("dot", "scaled", "bilinear", "mlp", "uniform"),
    )
    head_width: int = option(
        0,
        "attention: numbers of each head's queries, keys and values; 0: width / heads",
        least=0,
        most=65536,
    )
    maps: bool = option(
        True,
        "attention: queries, keys and values are learned maps of the vectors, "
        "not the vectors themselves",
    )
    positions: str = option(
        "rotary",
        "attention: how it knows where things stand",
        choices=("rotary", "sinusoidal", "learned", "concatenated", "none"),
    )
    kernel: int = option(3, "convolution: width of the kernel, in positions", least=1, most=1024)
    dilation: int = option(
        0,
        "convolution: a position hears every so many-th before it; 1: plain, "
        "0: doubling with each layer",
        least=0,
        most=1024,
    )
    gated: bool = option(
        True,
        "convolution: each value is let through by a gate; otherwise plain, with an activation",
    )
    word_vectors: str = option(
        "",
        "begin with these word vectors: a file of word2vec, GloVe or fastText, or a run of "
        "`fit words`; --width must be theirs, but for labels, whose --embedding becomes theirs",
    )
    frozen: bool = option(False, "the embedding stays as it begins")

    def mixers(self) -> set[str]:
        """All kinds of mixer that there are in it."""
        return {self.mixer}


MEANT = {  # settings that only some mixers have
    "cell_output": WITH_CELL,
    "norm_inside": CELLS,
    "radius": HEARING,
    "head_width": ("attention",),
    "dilation": ("convolution",),
}


def refuse_foreign(options: NetworkOptions) -> None:
    """Settings that mean nothing for any mixer of a network are a mistake."""
    for name in changed(options):
        meant = MEANT.get(name)
        if meant and not options.mixers() & set(meant):
            raise ConfigError(
                f"this is for {', '.join(meant)}, and there is none",
                got=f"--{name.replace('_', '-')} {getattr(options, name)} --mixer {options.mixer}",
                do=f"Leave it out, or use --mixer {meant[0]}",
            )


@dataclass(frozen=True)
class WholeOptions(NetworkOptions):
    """A stack over sequences that are there from beginning to end."""

    bidirectional: bool = option(True, "each position sees what comes after it, too")

    def trees(self) -> bool:
        """Whether a sequence is read as the tree that its brackets make of it."""
        return "tree" in self.mixers()
