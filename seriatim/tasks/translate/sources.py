"""Several sources of different kinds for one target: what stands beside `source`, by its names.

    {"source": "a question", "picture": [0.2, 0.7], "target": "an answer"}        --also picture

Once data are read, a further source is a field whose name begins with `also:`, so that a column is
one wherever it goes on to: into parts, subsets and folds of the data.
"""

from __future__ import annotations

from dataclasses import replace

from seriatim.data.headers import known_name
from seriatim.data.sequences import Field, Sequences
from seriatim.errors import ConfigError, DataError

SOURCE, TARGET = "source", "target"
ALSO = "also:"


def named_in(also: str) -> list[str]:
    """The names that were given to `--also`."""
    names = (known_name(name.strip()) for name in also.split(","))
    return list(dict.fromkeys(name for name in names if name))


def with_further(data: Sequences, also: str) -> Sequences:
    """The data with these fields as further sources."""
    names = named_in(also)
    for name in names:
        if name in (SOURCE, TARGET):
            raise ConfigError(
                "what is read beside the source is another column",
                got=f"--also {also}",
                do="Name columns that are neither source nor target",
            )
        if not {name, ALSO + name} & data.fields.keys():
            raise missing(data, name)
    fields = {ALSO + name if name in names else name: each for name, each in data.fields.items()}
    return replace(data, fields=fields) if names else data


def further_sources(data: Sequences) -> list[str]:
    """The names of further sources, as they were given."""
    return [name.removeprefix(ALSO) for name in data.fields if name.startswith(ALSO)]


def further_source(data: Sequences, name: str) -> Field:
    """One of them; an error if the data have none of this name."""
    if ALSO + name not in data.fields:
        raise missing(data, name)
    return data.fields[ALSO + name]


def missing(data: Sequences, name: str) -> DataError:
    """The error of data without a further source."""
    return DataError(
        f"{data.origin} has no column {name!r}, which is read beside the source",
        got=f"columns: {', '.join(each.removeprefix(ALSO) for each in data.fields)}",
        do=f"Give a table with the columns source and {name}",
    )
