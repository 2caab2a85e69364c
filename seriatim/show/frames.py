"""Records as rows, and rows as frames of pandas or polars.

A row is a dict of single values. What a room's record looks like as rows it may say itself (`rows`
of a Verb); without that the items of the record are its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from importlib.util import find_spec
from typing import Any

from seriatim.errors import ConfigError
from seriatim.records import Record

Row = dict[str, Any]
KINDS = ("pandas", "polars")
ABOUT = ("kind", "version", "protocol", "notes")  # of a record, beside its figures


def frame(rows: list[Row], kind: str = "") -> Any:
    """Rows as a frame; of pandas, if it is installed, unless one is named."""
    if kind not in ("", *KINDS):
        raise ConfigError("a frame is of pandas or of polars", got=kind, do="Name one of them")
    kind = kind or next((name for name in KINDS if find_spec(name)), "")
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: [row.get(name) for row in rows] for name in names}
    if not kind or not find_spec(kind):
        raise ConfigError(
            f"{kind or 'pandas'} is not installed", do=f"pip install {kind or 'pandas'}"
        )
    if kind == "pandas":
        import pandas

        whole = {name: whole_numbers(column) for name, column in columns.items()}
        return pandas.DataFrame(whole)
    import polars

    return polars.DataFrame(columns, strict=False)


def whole_numbers(column: list[Any]) -> Any:
    """Whole numbers of which some are missing stay whole in pandas; any other column is as it is."""
    kinds = {type(each) for each in column}
    if kinds != {int, type(None)} or max(abs(each or 0) for each in column) >= 1 << 63:
        return column
    import pandas

    return pandas.array(column, dtype="Int64")


def flat(values: Mapping[str, Any], under: str = "") -> Row:
    """The single values of a mapping; those inside others under both names, the ends of an interval
    as `_low` and `_high`. Lists are left out.

    >>> flat({"f1": 0.5, "macro": {"recall": 1}, "interval": {"confidence": 0.95, "f1": [0.4, 0.6]}})
    {'f1': 0.5, 'macro_recall': 1, 'f1_low': 0.4, 'f1_high': 0.6}
    """
    found: Row = {}
    for key, value in values.items():
        name = f"{under}_{key}" if under else key
        if key == "interval" and isinstance(value, Mapping):
            for each, ends in value.items():
                if isinstance(ends, (list, tuple)) and len(ends) == 2:
                    found |= {f"{each}_low": ends[0], f"{each}_high": ends[1]}
        elif isinstance(value, Mapping):
            found |= {} if key in ABOUT or "base64" in value else flat(value, name)
        elif not isinstance(value, (list, tuple)):
            found[name] = value
    return found


def figure_rows(record: Record, first: Iterable[str] = ()) -> list[Row]:
    """A row for each figure of an evaluation, with the ends of its interval; the most important
    first."""
    known = {key: value for key, value in record.items() if key not in ABOUT}
    bounds = known.pop("interval", None) or {}
    numbers = {
        name: value
        for name, value in flat(known).items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    order = dict.fromkeys([*(name for name in first if name in numbers), *numbers])
    rows = []
    for name in order:
        low, high = bounds.get(name) or (None, None)
        rows.append({"figure": name, "value": numbers[name], "low": low, "high": high})
    return rows


def ranked_rows(record: Record) -> list[Row]:
    """A row for each model of a comparison, the best first."""
    return [{"rank": place, **flat(row)} for place, row in enumerate(record["rows"], 1)]


def item_rows(record: Record) -> list[Row]:
    """A row for each item of a record; of one without items, for each of its first list; of one
    without lists, one row."""
    several = (record["items"],) if "items" in record else record.values()
    for each in several:
        if isinstance(each, list) and each and all(isinstance(one, Mapping) for one in each):
            return [flat(one) for one in each]
    return [] if "items" in record else [flat({k: v for k, v in record.items() if k not in ABOUT})]


def listed_rows(record: Record) -> list[Row]:
    """Where every item holds a list of answers (`next`, `found`, `results`): a row for each answer,
    with the number of its item."""
    rows = []
    for number, item in enumerate(record["items"]):
        own = flat(item)
        for each in next((one for one in item.values() if isinstance(one, list)), []):
            rows.append({"item": number, **own, **with_words(each)})
    return rows


def label_rows(record: Record) -> list[Row]:
    """A row for each sequence: its label and how likely that is, behind its name if it is a series;
    where all probabilities were asked for, a column for each label besides."""
    rows = []
    for item in record["items"]:
        found = {each["label"]: each["probability"] for each in item["probabilities"]}
        name = {"series": item["series"]} if "series" in item else {}
        own = name | {"label": item["label"], "probability": found.get(item["label"])}
        whole = {f"probability of {name}": found.get(name) for name in record.get("labels", ())}
        rows.append(own | whole)
    return rows


def with_words(values: Mapping[str, Any]) -> Row:
    """The single values, and lists of words as one text."""
    return {
        key: " ".join(value) if isinstance(value, list) else value for key, value in values.items()
    }


def moments(times: list[str]) -> list[Any]:
    """Moments as dates, or as whole numbers, where all of them are."""
    for kind in (int, datetime.fromisoformat):
        try:
            return [kind(each) for each in times]
        except ValueError:
            continue
    return list(times)
