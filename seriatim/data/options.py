"""How files are read. Kept in a run, so that every verb on it reads as the fit did."""

from __future__ import annotations

from dataclasses import dataclass

from seriatim.settings import option

FORMATS = (
    "text, csv, tsv, jsonl, parquet, conllu, columns, labelled, fasta, pgn, moves, wav, png, pixels, "
    "midi, roll, svg, strokes, quickdraw"
)
ENCODING = "of text: latin-1, utf-16, ...; default: UTF-8, or a guess"
FILLS = ("refuse", "previous", "linear", "mean", "keep")


@dataclass(frozen=True)
class TableOptions:
    """Any file."""

    input_format: str = option("", f"{FORMATS}; default: as the name of the file ends")
    columns: str = option(
        "",
        "names of the columns of a table without a header: label,text; of CoNLL-U: form,xpos, "
        "and further fields",
    )
    decimal: str = option(
        "", "csv, tsv: the mark before decimals; default: as found", choices=("", "point", "comma")
    )


@dataclass(frozen=True)
class TextOptions(TableOptions):
    """Texts and symbols."""

    by: str = option(
        "",
        "text: a sequence a line, or all of it one stream; default: as the task needs it",
        choices=("", "line", "stream"),
    )
    field: str = option("", "which field of a table to read")
    encoding: str = option("", ENCODING)
    distinct: bool = option(False, "of equal sequences keep the first only")


@dataclass(frozen=True)
class PixelOptions(TextOptions):
    """Texts, symbols, and pictures pixel by pixel."""

    greys: int = option(0, "png: greys to which pixels are rounded; 0: 8", least=0, most=256)


@dataclass(frozen=True)
class RollOptions(TextOptions):
    """Sequences of sets, and music as such."""

    grid: int = option(0, "midi: steps in a whole note; 0: 16", least=0)
    struck: bool = option(False, "midi: the notes that are struck in each step, not all that sound")


@dataclass(frozen=True)
class LabelledOptions(TextOptions):
    """Texts, symbols or series with a label, tags or a value each."""

    label: str = option("", "which field holds the labels (default: label) or values (value)")
    time: str = option("", "series: the column of moments; default: found by name or content")
    series: str = option("", "which series a row of a long table belongs to; each is a sequence")
    channels: str = option("", "series: the columns to be read, with commas between; default: all")
    fill: str = option("refuse", "series: what becomes of gaps", choices=FILLS)


@dataclass(frozen=True)
class SoundOptions:
    """Sounds, where numbers are read."""

    sample_rate: int = option(
        0, "wav: samples a second, by averaging; 0: as the file has them", least=0
    )
    frame: int = option(
        0,
        "wav: log energies of 8 bands of frequencies, of so many samples each; 0: the samples",
        least=0,
    )


@dataclass(frozen=True)
class SampledOptions(SoundOptions, TextOptions):
    """Texts, symbols or numbers."""


@dataclass(frozen=True)
class LabelledSamplesOptions(SoundOptions, LabelledOptions):
    """Texts, symbols, sounds or series with a label or a value each."""


@dataclass(frozen=True)
class SeriesOptions(SoundOptions, TableOptions):
    """Numbers over time."""

    time: str = option("", "the column of moments; default: found by name or content")
    series: str = option("", "which series a row of a long table belongs to")
    channels: str = option("", "the columns to be forecast, with commas between; default: all")
    known: str = option("", "columns that are known in advance, with commas between")
    encoding: str = option("", ENCODING)
    fill: str = option("refuse", "what becomes of gaps", choices=FILLS)
