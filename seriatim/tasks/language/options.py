"""The options of language models."""

from __future__ import annotations

from dataclasses import dataclass

from seriatim.decoding.options import DecodingOptions
from seriatim.models.options import NetworkOptions
from seriatim.settings import option, some_of


@dataclass(frozen=True)
class HiddenOptions:
    """States that are never seen, found in untagged sequences."""

    states: int = option(32, "number of states", least=1, most=4096)
    starts: int = option(
        8,
        "places where the search begins; after a few passes over some of the data it goes on from the best",
        least=1,
        most=10_000,
    )
    sweeps: int = option(100, "passes over the data at most", least=1)
    tolerance: float = option(
        1e-4, "stop when a pass gains less than this, in nats per symbol", least=0
    )
    add: float = option(
        0.01, "pseudo-count added to every symbol of every state in the end", least=0
    )
    seed: int = option(0, "random numbers: where the search begins", least=0, most=2**31 - 1)


@dataclass(frozen=True)
class BigramOptions:
    """A matrix of logits: one row for each previous symbol."""


@dataclass(frozen=True)
class LanguageOptions(NetworkOptions):
    """The same, for what comes next."""

    direct: int | None = option(
        None,
        "the last symbols also vote for the next one, beside the network: runs of up to this many; 0: "
        "none (default: 8 by character or byte beside an lstm or gru of width 128 or more)",
        least=0,
        most=24,
    )
    direct_dropout: float = option(
        0.0,
        "direct: share of votes that are not heard in training; a half, where data are read many times",
        least=0,
        most=0.95,
    )
    cells: int | None = option(
        None,
        "direct: rows of the table that all n-grams share (default: as many as make 64 MB, 262,144 at most)",
        least=1,
        most=1 << 27,
    )


@dataclass(frozen=True)
class ContinuationOptions:
    """How many of the likeliest continuations."""

    top: int = option(20, "how many symbols are shown", least=1)


@dataclass(frozen=True)
class FrequencyOptions:
    """Phrases over time, in a table with dates."""

    phrases: str = option("", "the phrases to be counted, with commas between")
    date: str = option("", "the field with the dates: 1843, 1843-05, 1843-05-01 and such")
    every: str = option("year", "the period that is counted", choices=("year", "month", "day"))
    smooth: int = option(3, "moving average over so many periods on each side", least=0)
    unit: str = option("word", "what phrases are made of", choices=("word", "token", "character"))
    lower: bool = option(False, "lower-case text and phrases first")
    field: str = option("", "the field with the text")
    columns: str = option("", "names of the columns of a table without a header")
    input_format: str = option("", "the format, if the ending does not tell")


@dataclass(frozen=True)
class PositionOptions:
    """Which positions."""

    most: int = option(64, "how many positions, from the first on", least=1, most=100_000)


@dataclass(frozen=True)
class ImpulseOptions:
    """A recurrence, and a push."""

    radius: str = option("0.9,1,1.1", "spectral radii of the recurrent matrix, with commas between")
    width: int = option(64, "size of the state", least=1, most=1024)
    steps: int = option(60, "how many steps after the push", least=1, most=10_000)
    activation: str = option(
        "linear", "what is applied to the state at each step", choices=("linear", "tanh")
    )
    seed: int = option(0, "random numbers: matrix, inputs and push", least=0, most=2**31 - 1)


@dataclass(frozen=True)
class ExportOptions:
    """Where to write."""

    out: str = option("", "what to write: .arpa, .arpa.gz, .arpa.xz; or a folder, for a GPT-2")


@dataclass(frozen=True)
class CompressOptions:
    """Where to write."""

    out: str = option("", "the compressed file, such as book.srt")


@dataclass(frozen=True)
class RestoreOptions:
    """Where to write."""

    out: str = option("", "the text that was compressed")


GenerateOptions = some_of(
    DecodingOptions,
    "GenerateOptions",
    "length temperature top_k top_p min_p repetition_penalty beam length_penalty exact draft ahead "
    "count seed stop",
)
