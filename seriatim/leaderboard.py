"""The table of a comparison, best first. What it is ranked by is on the card of the task."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from seriatim.measuring.fingerprint import caution, seen_of
from seriatim.measuring.judging import FEW_ITEMS
from seriatim.prospects import curve_notes
from seriatim.records import Record
from seriatim.show.curves import with_intervals
from seriatim.show.tables import ORDERS, short, strip, width_of
from seriatim.tasks.base import Figure, Task
from seriatim.verdict import CONTRADICTS, MUCH_SEEN, counted, seen_of_test

ROUGH_ITEMS = 100  # of a test: fewer show large differences alone
LATE = 1.1  # of its time, from which on it is told that a comparison took longer
MANY_COPIES = 0.05  # of the data, from which on they are told
OF_OTHERS = "leaderboard"  # the kind of a record of runs that others made
OF_COMPARISONS: Record = {  # what a leaderboard of others' runs has not
    "references": [],
    "recommendation": None,
    "chosen_on": "test",
    "unmixed": "",
    "minutes": None,
    "copies": 0.0,
    "split": "given",
    "test_share": 1.0,
    "folds": None,
    "curve": None,
}
STRIP = "strip"  # the column of dots on lines
WINNER = "winner is"  # the column of words against each other rung
LEFT = (
    "",
    "author",
    "model",
    "95 %",
    STRIP,
    WINNER,
    "sample",
)  # columns of words; the others are numbers
# columns from which a table has more of them, and what is left out first where there is no room
WIDE, DRAWN = 120, 100
FIRST_OUT = ("size", "symbols/s", "epochs", "parameters", STRIP, "sample", "updates")
LEAST_SAMPLE = 16  # letters


def footnotes(record: Record, room: Task) -> list[str]:
    """What a reader of the table must know, where it applies."""
    notes = []
    if any(row["tied"] and not row.get("unfinished") for row in record["rows"][1:]):
        notes.append("= may be best as well, by this test: the 90 % model confidence set")
    if record.get("kind") == OF_OTHERS:
        notes.append("ranked on this very file: who comes first may owe some of it to luck")
    elif record["chosen_on"] == "test" and len(record["rows"]) > 1:
        notes.append("the winner was chosen on the test itself: there is no common validation data")
    notes += recommendation_of(record)
    notes += beside_the_ranking(record["rows"], room.figure(record["figure"]), room)
    if record["protocol"] and record["protocol"].get("caution"):
        notes.append(record["protocol"]["caution"])
    notes += told_of_figures(record, room)
    notes += of_little(record["measured_on"], record.get("measured_in") or "items")
    notes += (
        without_intervals(record) + stopped_by_patience(record) + beside_networks(record["rows"])
    )
    notes += same_figures(record["rows"], room.figure(record["figure"]))
    notes += pretrained_rows(record) + seen_by(record)
    if record["unmixed"]:
        notes.append(f"no mixture of the best two: {record['unmixed']}")
    notes += took_longer(record) + little_seen(record)
    if record["copies"] > MANY_COPIES and record["split"] != "given":
        notes.append(
            f"{100 * record['copies']:.0f} % of the sequences are copies of others; they stay on one "
            "side, but intervals count each: --distinct leaves them out"
        )
    notes += copies_in_test(record)
    if record["test_share"] < 1:
        notes.append(
            f"measured on {100 * record['test_share']:.0f} % of the test part: scoring all of it "
            "would take more than a fifth of the time here; more --minutes, or --updates, measure on all"
        )
    if record["folds"]:
        notes.append(
            f"{record['folds']} folds: every sequence was the test once; "
            "seconds are those of all fits together"
        )
    return notes + curve_notes(record, room)


def copies_in_test(record: Record) -> list[str]:
    """How much of a test that was given stands in it before."""
    found, several = record.get("test_copies") or 0, record.get("test_sequences") or 0
    if found <= MANY_COPIES * several:
        return []
    return [
        f"{found:,} of the {several:,} sequences of the test ({100 * found / several:.0f} %) are copies "
        "of others in it; figures and intervals count each"
    ]


def little_seen(record: Record) -> list[str]:
    """What share of the test was seen in training, where it is less than the verdict tells; none
    is told of a test that was given."""
    share, of = seen_of_test(record["rows"])
    if share is None or share >= MUCH_SEEN:
        return []
    return [seen_of(share, of)] if record["split"] == "given" else caution(share, of)


def told_of_figures(record: Record, room: Task) -> list[str]:
    """What the protocol says of columns that do not explain themselves."""
    protocol = record["protocol"] or {}
    return [
        f"{figure.title}: {protocol[figure.told]}"
        for figure in room.figures
        if figure.told and protocol.get(figure.told)
    ]


def stopped_by_patience(record: Record) -> list[str]:
    """Which networks ended before the updates or epochs that were asked for."""
    if record["minutes"]:
        return []
    rows = [row for row in record["rows"] if row.get("stopped") == "patience"]
    several = [f"{row['model']} after {row['updates']:,} updates" for row in rows]
    return [f"stopped by patience: {', '.join(several)}"] if several else []


def of_little(items: int, measured_in: str = "items") -> list[str]:
    """What to say of a small test."""
    blocks = measured_in != "items"
    if (not items and not blocks) or items >= ROUGH_ITEMS:
        return []
    words = "too few for a verdict" if items < FEW_ITEMS else "only large differences show"
    return [f"measured on {counted(items, measured_in)} of test data only: {words}"]


def beside_networks(rows: list[dict[str, Any]]) -> list[str]:
    """Which networks have a model that counts beside them."""
    networks: dict[tuple[str, bool], list[str]] = {}
    for row in rows:
        if row.get("beside"):
            key = row["beside"], bool(row.get("beside_alone"))
            networks.setdefault(key, []).append(row["model"])
    return [
        f"{', '.join(several)}: {name} answers alone, for on validation data the network added nothing "
        "to what it counts that is more than chance; --beside no compares networks alone"
        if alone
        else f"{', '.join(several)}: what {name} counts is added to what the network says, so that few "
        "updates already give its figures; --beside no compares networks alone"
        for (name, alone), several in networks.items()
    ]


def pretrained_rows(record: Record) -> list[str]:
    """Which models had read something before, nobody knows what."""
    names = [row["model"] for row in record["rows"] if row.get("pretrained")]
    names += [each["name"] for each in record["references"] if each.get("pretrained")]
    if not names:
        return []
    return [f"{', '.join(names)}: pretraining data unknown; this test may be among it"]


def seen_by(record: Record) -> list[str]:
    """Of runs that others made, who was trained on how much of the file."""
    shares = {
        row["model"]: row["protocol"].get("seen_in_training") or 0
        for row in record["rows"]
        if record.get("kind") == OF_OTHERS and row["status"] == "ok"
    }
    many = [f"{name} {100 * share:.0f} %" for name, share in shares.items() if share >= MUCH_SEEN]
    return [f"of this file seen in training: {', '.join(many)}"] if many else []


def same_figures(rows: list[dict[str, Any]], figure: Figure) -> list[str]:
    """Which models have the winner's figure on whatever part of the test; their answers may differ
    where the figure does not ask: two rows of tags may mark the same spans."""
    none = {"difference": 0.0, "low": 0.0, "high": 0.0}
    same = [
        row["model"]
        for row in rows
        if row.get("against") and none.items() <= row["against"].items()
    ]
    words = f"the same {figure.title} as {rows[0]['model']} on every part of the test"
    return [f"{words}: {', '.join(same)}"] if same else []


def took_longer(record: Record) -> list[str]:
    """What to say of a comparison that took longer than it was to."""
    asked, took = 60 * (record["minutes"] or 0), record["seconds"]
    if not asked or took <= LATE * asked:
        return []
    return [
        f"it took {took:.0f} s instead of {asked:.0f}: the machine is busy, or so little time is "
        f"less than {what_needs(record)}"
    ]


def what_needs(record: Record) -> str:
    """What needs more time, and what would help: networks, or, where none was begun, what is done
    once, whatever the models."""
    many = len(record["rows"])
    if record.get("slot_seconds") is None:
        return "starting, reading, counting and the report need"
    return "a model needs" if many < 2 else f"{many} models need; --models names fewer"


def recommendation_of(record: Record) -> list[str]:
    """What to keep instead of the best, where something else was asked for or would do."""
    found, notes = record["recommendation"], []
    if not found:
        return []
    if found["best"] and found.get("why") and CONTRADICTS not in found["why"]:
        notes.append(f"kept for use: {found['best']}, for {found['why']}")
    if found["limits"]:
        limits = {"max_size": "{:,} bytes at most", "min_speed": "{:,g} symbols/s at least"}
        asked = [limits[key].format(value) for key, value in found["limits"].items() if value]
        best = found["within_limits"]
        notes.append(f"{', '.join(asked)}: {best or 'no model here'}")
    if cheapest := found["cheapest_equivalent"]:
        spent = next(row["seconds"] for row in record["rows"] if row["model"] == cheapest)
        notes.append(
            f"{cheapest} would do as well: shown equivalent on this test, fitted in {spent:.1f} s"
        )
    return notes


def beside_the_ranking(rows: list[dict[str, Any]], figure: Figure, room: Task) -> list[str]:
    """By what equal models are ordered, what is to be said of the best one, and who is best by the
    other figure that the field looks at."""
    good, notes = [row for row in rows if row["status"] == "ok"], []
    values = [row[figure.key] for row in good]
    if figure.ties and len(set(values)) < len(values):
        ties = room.figure(figure.ties).title
        notes.append(f"of the same {figure.title}: ordered by {ties} below the first")
    if good:
        notes += [f"{good[0]['model']}: {words}" for words in good[0].get("notes", ())]
    if figure.also and good:
        other = room.figure(figure.also)
        best = min(good, key=lambda row: other.signed(row.get(other.key)))
        if other.signed(best.get(other.key)) < other.signed(good[0].get(other.key)):
            value = other.write(best[other.key])
            notes.append(f"by {other.title} {best['model']} is best: {value}")
    return notes


def leaderboard(record: Record, room: Task, width: int = 160) -> Table:
    """The table, in so many columns of letters: a narrow one has fewer of its own, table.json has
    them all. Nothing is left out in the middle of a number."""
    record = by_author(record)
    figures = room.ranked_by(record["figure"])
    shown = columns(record, figures, width)
    table = drawn(record, room, shown, width)
    rest = [each.title for each in reversed(figures[1:])]
    for name in (*FIRST_OUT, *rest, "fit s"):
        if needed(table, shown) <= width:
            break
        if name in shown:
            shown.remove(name)
            table = drawn(record, room, shown, width)
    return table


def by_author(record: Record) -> Record:
    """A leaderboard of runs that others made, as a comparison whose rows are called by them."""
    if record.get("kind") != OF_OTHERS:
        return record
    rows = [row | {"model": row["author"], "spec": row["model"]} for row in record["rows"]]
    protocol = next((row["protocol"] for row in rows if row["status"] == "ok"), None)
    return OF_COMPARISONS | record | {"rows": rows, "protocol": protocol}


def ranked_csv(record: Record, room: Task) -> str:
    """The rows of a table as csv."""
    text = io.StringIO()
    first, *others = (figure.key for figure in room.ranked_by(record["figure"]))
    after = ("seconds", "updates", "epochs", "unfinished", "parameters", "size_bytes")
    more = ("symbols_per_second", "tied", "reason")
    columns = ["model", "status", first, "low", "high", *others, *after, *more]
    if record.get("kind") == OF_OTHERS:
        of_fits = after[:4]
        columns = ["author", *(name for name in columns if name not in of_fits)]
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in record["rows"]:
        low, high = row.get("interval", {}).get(first) or (None, None)
        writer.writerow(row | {"low": low, "high": high})
    return text.getvalue()


def needed(table: Table, shown: list[str]) -> int:
    """The letters that its columns need side by side, with a few of each sample."""
    bare = Table(box=None, pad_edge=False)
    bare.columns = [each for each, name in zip(table.columns, shown) if name != "sample"]
    bare.rows = table.rows
    return width_of(bare) + (LEAST_SAMPLE + 2) * ("sample" in shown)


def drawn(record: Record, room: Task, shown: list[str], width: int) -> Table:
    """The table with these columns."""
    table = Table(
        title=Text(f"{Path(record['data']).name}: {record['task']} by {record['unit']}"),
        title_justify="left",
        caption_justify="left",
        caption=Text("\n".join(notes_under(record, room))),
        header_style="bold",
        box=None,
        pad_edge=False,
    )
    figures = room.ranked_by(record["figure"])
    strips = strips_of(record, figures[0], 24 if width >= WIDE else 16)
    for name in shown:
        justify: Any = "left" if name in LEFT else "right"
        title = Text(strips[""]) if name == STRIP else name
        table.add_column(title, justify=justify, no_wrap=name not in ("sample", "model", "author"))
    waiting = sorted(
        (each for each in record["references"] if each["value"] is not None),
        key=lambda each: figures[0].signed(each["value"]),
    )
    for place, row in enumerate(record["rows"], 1):
        value = figures[0].signed(row.get(figures[0].key))
        while waiting and figures[0].signed(waiting[0]["value"]) < value:
            reference_row(table, shown, waiting.pop(0), figures[0])
        if row["status"] == "ok":
            cells = cells_of(place, row, figures) | {STRIP: strips.get(row["model"], "")}
            table.add_row(*(cells[name] for name in shown), style="bold" if place == 1 else None)
        else:
            table.add_row("", Text(row["model"]), row["status"], style="red")
    for each in waiting:
        reference_row(table, shown, each, figures[0])
    return table


def notes_under(record: Record, room: Task) -> list[str]:
    """The lines below the table: the verdict, what its marks mean, and what failed."""
    notes = [record["verdict"]]
    if any(row.get("unfinished") for row in record["rows"]):
        notes.append(unfinished_means(record))
    if any(not each.get("pretrained") for each in record["references"]):
        notes.append("- a compressor of others, given the training text first")
    failed = [row for row in record["rows"] if row["status"] != "ok"]
    notes += footnotes(record, room)
    return notes + [f"{row['model']} {row['status']}: {row['reason']}" for row in failed]


def unfinished_means(record: Record) -> str:
    """What the mark of an unfinished model says: by short fits, or, where there are none, by what
    its fit saw."""
    marked = [row.get("course") or {} for row in record["rows"] if row.get("unfinished")]
    told = [bool(course.get("predicted")) for course in marked]
    means = []
    if any(told):
        means.append(f"the last doubling of its time gained more than {100 * record['margin']:g} %")
    if not all(told):
        means.append("too few updates, less than one epoch, or less than half of its recipe's")
    return f"~ unfinished: {'; or '.join(means)}; no verdict"


def reference_row(table: Table, shown: list[str], reference: Record, figure: Figure) -> None:
    """What a tool from outside the ladder reaches, at its place."""
    cells = {"": "-", "model": reference["name"], figure.title: figure.write(reference["value"])}
    table.add_row(*(Text(cells.get(name, "")) for name in shown), style="dim")


def strips_of(record: Record, figure: Figure, cells: int) -> dict[str, Any]:
    """Each model's figure and interval on one scale, whose ends stand above: under "". Nothing
    where there are no two models to be held against each other."""
    found: dict[str, tuple[float, tuple[float, float]]] = {}
    for row in record["rows"]:
        value = row.get(figure.key)
        if row["status"] == "ok" and value is not None:
            low, high = row["interval"].get(figure.key) or (value, value)
            bounds = (value, value) if low is None or high is None else (low, high)
            found[row["model"]] = (value, bounds)
    ends = [each for value, bounds in found.values() for each in (value, *bounds)]
    if len(found) < 2 or min(ends) == max(ends):
        return {"": ""}
    scale = (min(ends), max(ends))
    low, high = (figure.write(each) for each in scale)
    return {"": low + high.rjust(cells - len(low))} | {
        model: Text(strip(*each, scale, cells), style=ORDERS[0]) for model, each in found.items()
    }


def columns(record: Record, figures: tuple[Figure, ...], width: int) -> list[str]:
    """The titles of the columns that a table of this width may have."""
    wide = width >= WIDE
    first, *others = figures[0], *(each for each in figures[1:] if each.shown)
    beside = [each.title for each in others if wide or not each.wide]
    more = ["size", "symbols/s"] if wide else []
    sample = ["sample"] if any("sample" in row for row in record["rows"]) else []
    networks = any(row.get("updates") is not None for row in record["rows"])
    seen = ["updates", *(["epochs"] if wide else [])] if networks else []
    strips = (
        [STRIP]
        if with_intervals(record) and width >= DRAWN and len(strips_of(record, first, 16)) > 1
        else []
    )
    judged = [WINNER] if any(row.get("against") for row in record["rows"]) else []
    figure = [first.title, *(["95 %"] if with_intervals(record) else []), *strips, *judged]
    own = any(row.get("seconds") is not None for row in record["rows"])
    spent = ["fit s"] if own else []
    names = ["author", "model"] if any("spec" in row for row in record["rows"]) else ["model"]
    return ["", *names, *figure, *beside, *spent, *seen, "parameters", *more, *sample]


def learned(row: dict[str, Any]) -> tuple[str, str]:
    """Updates and epochs of a network; a model that counts has none."""
    if row.get("updates") is None:
        return "", ""
    return f"{row['updates']:,}", f"{row['epochs']:.3g}"


def alone_of(row: dict[str, Any]) -> str:
    """Of a network that has nothing to add, who answers alone."""
    return f" ({row['beside']} alone)" if row.get("beside_alone") else ""


def without_intervals(record: Record) -> list[str]:
    """That there are no intervals, where there are figures."""
    scored = any(row.get(record["figure"]) is not None for row in record["rows"])
    several = counted(record["measured_on"] or 0, record.get("measured_in") or "items")
    return [] if with_intervals(record) or not scored else [f"no intervals: {several} are too few"]


def mark_of(place: int, row: dict[str, Any]) -> str:
    """What stands before a row: its place, or that it is unfinished, or may be best as well."""
    return "~" if row.get("unfinished") else "=" if row["tied"] and place > 1 else str(place)


def cells_of(place: int, row: dict[str, Any], figures: tuple[Figure, ...]) -> dict[str, Any]:
    """A row of the table, by the titles of the columns."""
    first, *others = figures
    low, high = row["interval"][first.key] or (None, None)
    bounds = "" if low is None else f"{first.write(low).removesuffix('%')}-{first.write(high)}"
    return {
        "": mark_of(place, row),
        "updates": learned(row)[0],
        "epochs": learned(row)[1],
        "author": Text(row["model"]),
        "model": Text((row.get("spec") or row["model"]) + alone_of(row)),
        first.title: first.write(row[first.key]),
        "95 %": bounds,
        WINNER: "" if row.get("unfinished") or not row.get("against") else row["against"]["word"],
        "fit s": "" if row.get("seconds") is None else f"{row['seconds']:.1f}",
        "parameters": short(row["parameters"]),
        "size": short(row["size_bytes"]) + "B",
        "symbols/s": short(row["symbols_per_second"]),
        "sample": Text(repr(row.get("sample", ""))[1:-1], no_wrap=True, overflow="ellipsis"),
        **{each.title: each.beside(row.get(each.key)) for each in others},
    }
