"""The options of autoencoders."""

from __future__ import annotations

from dataclasses import dataclass

from seriatim.codecs.options import CodecOptions
from seriatim.decoding.options import DecodingOptions
from seriatim.models.options import MIXERS, WholeOptions
from seriatim.settings import option, some_of
from seriatim.tasks.base.options import TEXT, EvaluateOptions


@dataclass(frozen=True)
class AutoencodeOptions(WholeOptions):
    """A stack that reads a sequence into one vector, and one that writes it again."""

    context: int = option(1024, "attention: how many positions back, itself included", least=1)
    encoder_mixer: str = option(
        "",
        "how a position sees the others when the sequence is read (default: as --mixer)",
        choices=("", *MIXERS),
    )
    bidirectional: bool = option(
        True, "when it is read, each position sees what comes after it, too"
    )
    latent: int = option(
        32,
        "size of the vector; 0: none, the sequence is written from nothing but its --condition",
        least=0,
        most=65536,
    )
    variational: bool = option(
        True,
        "the vector is a normal distribution near the one that samples are drawn from; "
        "otherwise just a vector",
    )
    into: str = option(
        "both",
        "how the writer receives the vector: as its first state, at every step, or both",
        choices=("state", "every", "both"),
    )
    teacher_forcing: bool = option(
        True,
        "what was written before is an input (teacher forcing); "
        "otherwise the vector is all that is known",
    )
    word_dropout: float = option(
        0.0,
        "share of the inputs of the writer that are unknown in training, so that it needs the vector",
        least=0,
        most=1,
    )
    annealing: str = option(
        "linear",
        "variational: how the price of a vector rises in training",
        choices=("none", "linear", "cyclic"),
    )
    rising: float = option(
        0.3,
        "linear: share of training until it is full; cyclic: there are four cycles, "
        "and this is the share of each",
        above=0,
        most=1,
    )
    free_bits: float = option(
        0.0,
        "variational: nats by which each number of the vector may tell sequences apart "
        "for nothing (free bits)",
        least=0,
        most=100,
    )
    components: int = option(10, "numbers: how many normals are mixed", least=1, most=1000)

    def mixers(self) -> set[str]:
        """That of the encoder, too."""
        return {self.mixer, self.encoder_mixer or self.mixer}


SampleCoding = some_of(CodecOptions, "SampleCoding", f"{TEXT} condition scale")
WRITING = "length temperature top_k top_p min_p repetition_penalty beam length_penalty seed stop"
WritingOptions = some_of(DecodingOptions, "WritingOptions", WRITING, temperature=0.0)
DrawingOptions = some_of(DecodingOptions, "DrawingOptions", f"{WRITING} count")


@dataclass(frozen=True)
class LikelihoodOptions(EvaluateOptions):
    """How the likelihood of a sequence is found."""

    draws: int = option(64, "draws of the vector for the likelihood of a sequence", least=1)


@dataclass(frozen=True)
class NeighbourOptions:
    """Whose neighbours, and how many."""

    to: str = option("", "the text, or the number of a sequence of the data, counted from 1")
    top: int = option(5, "how many of the nearest sequences", least=1)


@dataclass(frozen=True)
class GenerateOptions(DrawingOptions):  # type: ignore[valid-type, misc]
    """Sequences from vectors drawn at random."""

    label: str = option("", "what it is conditioned on: spam, or author=Poe,style=verse")


@dataclass(frozen=True)
class InterpolateOptions(WritingOptions):  # type: ignore[valid-type, misc]
    """The way between sequences of the data."""

    ends: str = option("", "numbers of two or four sequences, such as 1,2 (default: the first two)")
    count: int = option(7, "sequences on the way; of four ends a grid of count x count", least=2)
    label: str = option("", "what they are conditioned on")


@dataclass(frozen=True)
class CombineOptions(WritingOptions):  # type: ignore[valid-type, misc]
    """Vectors added and subtracted."""

    of: str = option("", "a file: the numbers 1 - 2 + 3 name its sequences (default: texts)")
    label: str = option("", "what it is conditioned on")


@dataclass(frozen=True)
class CompleteOptions(DrawingOptions):  # type: ignore[valid-type, misc]
    """How a sequence goes on."""

    number: int = option(1, "which sequence of the data, counted from 1", least=1)
    part: float = option(1.0, "after this part of it", above=0, most=1)
    label: str = option("", "what it is conditioned on")
