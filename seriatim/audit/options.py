"""What an audit may be asked for."""

from __future__ import annotations

from dataclasses import dataclass

from seriatim.settings import option


@dataclass(frozen=True)
class CheckOptions:
    """How the files are read, and what is counted."""

    label: str = option("", "the field of the labels (default: label, class, category)")
    unit: str = option(
        "",
        "what is counted (default: words of text, tokens as given)",
        choices=("", "word", "token", "character", "byte"),
    )
    by: str = option(
        "", "text: a sequence a line (default), or one stream", choices=("", "line", "stream")
    )
    field: str = option("", "which field to look at (default: text or tokens)")
    columns: str = option("", "names of the columns of a table without a header")
    decimal: str = option(
        "", "csv, tsv: the mark before decimals; default: as found", choices=("", "point", "comma")
    )
    encoding: str = option("", "of text; default: UTF-8, or a guess")
    input_format: str = option("", "the format, if the ending does not tell")
