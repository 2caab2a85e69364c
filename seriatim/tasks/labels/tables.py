"""Tables and lines of found labels, tags and values: what the records of these rooms look like."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.console import Group
from rich.table import Column, Table
from rich.text import Text

from seriatim.data.sequences import names_of
from seriatim.records import Record, array_of
from seriatim.show.frames import item_rows
from seriatim.show.tables import (
    ORDERS,
    add_against,
    add_protocol,
    bar,
    narrowed,
    output,
    visible,
    width_of,
)

WHOLE = 12  # labels whose whole confusion matrix is shown
MOST_PAIRS = 10  # confusions that are told of more labels
APART = 0.001  # from which on accuracy and its mean over labels are said to differ
ROOM = 60  # letters for the names of its columns
MOST_LETTERS = 32  # of the name of a label beside its figures
END = "end of the text"  # what it is called where it adds to a logit


def label_figures(record: Record) -> Group:
    """An evaluation: headline figures, a row for each label, and what was taken for what."""
    confusions = matrix(record) if len(record["classes"]) <= WHOLE else None
    if confusions is None or width_of(confusions) > output().width:
        confusions = frequent_confusions(record)
    return Group(headline(record), Text(), by_label(record), Text(), confusions)


def headline(record: Record) -> Table:
    """The figures of all labels together."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    for name, words in of_spans(record):
        table.add_row(Text(name), Text(words))
    low, high = record["interval"]["accuracy"]
    table.add_row("accuracy", f"{record['accuracy']:.4f}   (95 % interval {low:.4f} to {high:.4f})")
    if record.get("majority") is not None:
        floor = f"(of always saying {visible(record['majority_label'])}, commonest in training)"
        table.add_row("majority", Text(f"{record['majority']:.4f}   {floor}"))
    balanced = record["macro"]["recall"]
    if abs(balanced - record["accuracy"]) > APART:
        words = f"{balanced:.4f}   (every label weighs the same: the mean of their recalls)"
        table.add_row("balanced accuracy", words)
    for mean in ("macro", "micro"):
        table.add_row(f"{mean} F1", of_three(record[mean]))
    table.add_row("weighted F1", f"{record['weighted_f1']:.4f}")
    table.add_row("Matthews", f"{record['matthews']:.4f}")
    table.add_row("examples", f"{record['labels']:,}")
    for name, words in [*how_sure(record), *of_words(record)]:
        table.add_row(Text(name), Text(words))
    add_against(table, record)
    return table


def of_three(figures: Record) -> str:
    """F1 with what it is made of."""
    return "{f1:.4f}   (precision {precision:.4f}, recall {recall:.4f})".format(**figures)


def how_sure(record: Record) -> Iterator[tuple[str, str]]:
    """The log loss, and labels that training did not have."""
    unseen = record.get("unseen_labels")
    if "calibration" in record:
        sure = record["calibration"]
        loss, seen = (
            "infinite" if each is None else f"{each:.4f}"
            for each in (record["log_loss"], record.get("log_loss_of_seen"))
        )
        others = f"{seen} without labels unseen in training, " if unseen else ""
        yield "log loss", f"{loss}   ({others}calibration error {sure['error']:.4f})"
    if unseen:
        some = list(unseen.items())[:MOST_PAIRS]
        names = ", ".join(f"{visible(name)} {count:,}" for name, count in some)
        yield "labels unseen in training", f"{names}   (counted as wrong)"


def of_spans(record: Record) -> Iterator[tuple[str, str]]:
    """The figures of whole spans, where tags mark them."""
    if "spans" in record:
        low, high = record["interval"]["span_f1"]
        words = f"{of_three(record['spans'])}   95 % interval {low:.4f} to {high:.4f}"
        yield "span F1", words
        for each in record["spans"]["types"]:
            yield f"  {visible(each['name'])}", f"{of_three(each)}   {each['support']:,} spans"


def of_words(record: Record) -> Iterator[tuple[str, str]]:
    """What only tags have, and the threshold of a label that was asked for."""
    for name in ("known_words", "unknown_words"):
        each = record.get(name, {})
        if each.get("words"):
            words = f"{each['accuracy']:.4f}   ({each['words']:,} words)"
            yield name.replace("_", " "), words
    if "threshold" in record:
        found = record["threshold"]
        yield (
            "threshold",
            f"{found['positive']} from {found['threshold']:.6g} on: "
            f"recall {found['recall']:.4f}, precision {found['precision']:.4f}, "
            f"{100 * found['false']:.3g} % of the others",
        )


def by_label(record: Record) -> Table:
    """A row for each label, with its F1 as a bar."""
    table = Table(
        Column("label", no_wrap=True, overflow="ellipsis", max_width=MOST_LETTERS),
        *(Column(name, justify="right", no_wrap=True) for name in ("precision", "recall", "F1")),
        Column("", no_wrap=True),
        Column("examples", justify="right", no_wrap=True),
        header_style="bold",
        box=None,
        pad_edge=False,
    )
    for each in record["classes"]:
        table.add_row(
            name_of(each),
            *(f"{each[name]:.4f}" for name in ("precision", "recall", "f1")),
            Text(bar(each["f1"], 12).ljust(12), style=ORDERS[4]),
            f"{each['support']:,}",
        )
    return narrowed(table)


def matrix(record: Record) -> Table:
    """A row for each true label, a column for each found one; columns have the numbers of the rows
    where the names are too long."""
    names = [visible(each["name"]) for each in record["classes"]]
    heads = (
        names
        if sum(map(len, names)) + 2 * len(names) <= ROOM
        else [str(row) for row in range(1, len(names) + 1)]
    )
    table = Table(
        Column("true \\ found", no_wrap=True, max_width=24, min_width=12),
        *(Column(Text(head), justify="right", no_wrap=True) for head in heads),
        header_style="bold",
        box=None,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for row, (name, counts) in enumerate(zip(names, record["confusion"])):
        table.add_row(
            Text(name if heads is names else f"{row + 1} {name}", overflow="ellipsis"),
            *(
                Text(
                    f"{count:,}" if count else "·",
                    style="bold" if column == row else "" if count else "dim",
                )
                for column, count in enumerate(counts)
            ),
        )
    return table


def frequent_confusions(record: Record) -> Table:
    """The mistakes that were made most often."""
    pairs = [
        (count, row, column)
        for row, counts in enumerate(record["confusion"])
        for column, count in enumerate(counts)
        if count and row != column
    ]
    table = Table(
        Column("true", no_wrap=True, overflow="ellipsis", max_width=MOST_LETTERS // 2 + 6),
        Column("found", no_wrap=True, overflow="ellipsis", max_width=MOST_LETTERS // 2 + 6),
        Column("times", justify="right", no_wrap=True),
        Column("of the true", justify="right", no_wrap=True),
        header_style="bold",
        box=None,
        pad_edge=False,
    )
    for count, row, column in sorted(pairs, key=lambda pair: -pair[0])[:MOST_PAIRS]:
        true, found = record["classes"][row], record["classes"][column]
        table.add_row(
            name_of(true), name_of(found), f"{count:,}", f"{100 * count / true['support']:.1f} %"
        )
    return narrowed(table)


def explanation(record: Record) -> Group:
    """Why a label: each symbol with what it added, towards the label or against it, and then the
    end of the text, where it counts."""
    title = Text.assemble(
        (visible(record["label"]), "bold"),
        f"   {100 * record['probability']:.2f} %",
        (f"   {record['model']}, {record['method']}", "dim"),
    )
    table = Table(
        "symbol", Column("adds", justify="right"), "", header_style="bold", box=None, pad_edge=False
    )
    end = record["end"]
    rows = [(Text(visible(each["symbol"])), each["contribution"]) for each in record["symbols"]]
    rows += [] if end is None else [(Text(END, style="dim"), end)]
    most = max(abs(value) for _, value in rows) or 1.0
    for name, value in rows:
        table.add_row(
            name,
            f"{value:+.3f}",
            Text(bar(abs(value) / most, 24), style="#4f8a9b" if value > 0 else "#c1440e"),
        )
    symbols = sum(each["contribution"] for each in record["symbols"])
    parts = f"before {record['before']:+.3f} and symbols {symbols:+.3f}"
    if end is not None:
        parts = f"before {record['before']:+.3f}, symbols {symbols:+.3f} and end {end:+.3f}"
    total = f"{parts} = logit {record['logit']:+.3f}"
    gap = "" if abs(record["gap"]) < 5e-4 else f", {record['gap']:+.3f} unexplained"
    return Group(title, table, Text(total + gap, style="dim"))


def value_figures(record: Record) -> Table | Group:
    """An evaluation of values, with the protocol below; of several a sequence, of each by itself."""
    if "by_output" in record:
        return Group(vector_figures(record), Text(), by_output(record))
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    low, high = record["interval"]["mae"]
    table.add_row("MAE", f"{record['mae']:.5g}   (95 % interval {low:.5g} to {high:.5g})")
    table.add_row("RMSE", f"{record['rmse']:.5g}")
    table.add_row(
        "R²",
        "undefined: all values are equal"
        if record["r_squared"] is None
        else f"{record['r_squared']:.4f}",
    )
    skill = "undefined" if record["skill"] is None else f"{100 * record['skill']:+.1f} %"
    floor = f"{record['floor_mae']:.5g} of always saying the mean of the training values"
    table.add_row("skill", f"{skill}   (MAE against {floor})")
    table.add_row("nats per value", f"{record['nats_per_value']:.4f}")
    table.add_row(
        "inside 80 %", f"{100 * record['coverage']:.1f} %   (mean width {record['width']:.5g})"
    )
    table.add_row("sequences", f"{record['sequences']:,}, {record['seconds']:.1f} s")
    add_against(table, record)
    add_protocol(table, record)
    return table


def vector_figures(record: Record) -> Table:
    """What is told of all outputs together, which have no common unit."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    low, high = record["interval"]["scaled_mae"]
    table.add_row(
        "scaled MAE",
        f"{record['scaled_mae']:.4f}   (95 % interval {low:.4f} to {high:.4f}; the mean over outputs, "
        "in training deviations)",
    )
    table.add_row("R²", optional(record["r_squared"], "{:.4f}") + "   (mean over outputs)")
    table.add_row("skill", optional(record["skill"], "{:+.1%}") + "   (likewise)")
    table.add_row("nats per value", f"{record['nats_per_value']:.4f}")
    table.add_row("inside 80 %", f"{100 * record['coverage']:.1f} %")
    table.add_row("sequences", f"{record['sequences']:,}, {record['seconds']:.1f} s")
    add_against(table, record)
    add_protocol(table, record)
    return table


def by_output(record: Record) -> Table:
    """A row for each output, in its own unit."""
    names = ("output", "MAE", "RMSE", "R²", "skill", "MAE of the mean", "inside 80 %")
    table = Table(
        *(Column(name, justify="right", no_wrap=True) for name in names),
        header_style="bold",
        box=None,
        pad_edge=False,
    )
    for each in record["by_output"]:
        table.add_row(
            str(each["output"]),
            *(f"{each[name]:.5g}" for name in ("mae", "rmse")),
            optional(each["r_squared"], "{:.4f}"),
            optional(each["skill"], "{:+.1%}"),
            f"{each['floor_mae']:.5g}",
            f"{100 * each['coverage']:.1f} %",
        )
    return table


def optional(value: float | None, form: str) -> str:
    """A figure, or that there is none."""
    return "undefined" if value is None else form.format(value)


def name_of(each: Record) -> Text:
    """The name of a label, as long as there is room."""
    return Text(visible(each["name"]), no_wrap=True, overflow="ellipsis")


# -- a line for each sequence


def label_lines(record: Record) -> str:
    """The label found, and the likeliest ones with their probabilities; what is blank has none."""
    return "\n".join(
        "\t".join(
            [
                *names_of([item["label"]])[0],
                *(
                    f"{names_of([each['label']])[0][0]} {each['probability']:.4f}"
                    for each in item["probabilities"]
                ),
            ]
        )
        for item in record["items"]
    )


def tag_lines(record: Record) -> str:
    """A line for each element, with its tag; a blank line behind each sequence."""
    lines = []
    for item in record["items"]:
        pairs = zip(item["tokens"], names_of(item["tags"])[0], strict=True)
        lines += [*(f"{token}\t{tag}" for token, tag in pairs), ""]
    return "\n".join(lines)


def tag_rows(record: Record) -> list[Record]:
    """A row for each element: which sequence and place it has, its tag and how likely that is."""
    return [
        {"item": number, "place": place, "token": token, "tag": tag, "probability": sure}
        for number, item in enumerate(record["items"])
        for place, (token, tag, sure) in enumerate(
            zip(item["tokens"], item["tags"], item["probabilities"], strict=True)
        )
    ]


def best_lines(record: Record) -> str:
    """The best rows of tags with their log-probabilities; a blank line behind each sequence."""
    lines = []
    for item in record["items"]:
        rows = (
            f"{row['log_prob']:.4f}\t{' '.join(names_of(row['tags'])[0])}"
            for row in item["results"]
        )
        lines += [*rows, ""]
    return "\n".join(lines)


def value_lines(record: Record) -> str:
    """The value, its deviation, and the ends of the interval of 80 %; of several one behind the
    other."""
    return "\n".join(
        "\t".join(f"{number:.6g}" for number in numbers_of(each)) for each in record["items"]
    )


def numbers_of(item: Record) -> Iterator[float]:
    """All that is said of one sequence, four numbers a value."""
    if isinstance(item["value"], float):
        yield from (item["value"], item["deviation"], *item["interval"]["value"])
        return
    columns = item["value"], item["deviation"], item["interval"]["value"]
    for value, deviation, ends in zip(*columns, strict=True):
        yield from (value, deviation, *ends)


def value_rows(record: Record) -> list[Record]:
    """A row for each sequence: its value, or its values, each with deviation and interval."""
    rows = item_rows(record)
    for row, item in zip(rows, record["items"], strict=True):
        if isinstance(item["value"], float):
            continue
        row.clear()
        columns = item["value"], item["deviation"], item["interval"]["value"]
        for place, (value, deviation, ends) in enumerate(zip(*columns, strict=True), 1):
            row |= {f"value_{place}": value, f"deviation_{place}": deviation}
            row |= {f"value_{place}_low": ends[0], f"value_{place}_high": ends[1]}
    return rows


def annotated(record: Record) -> str:
    """What was written."""
    return f"{record['out']}: {record['tags']:,} tags in {record['sequences']:,} sequences"


SHOWN = 4  # numbers of a tensor in a table


def graph(record: Record) -> Table:
    """A line for each node: how it came about, its value, and what it does to the loss."""
    table = Table(header_style="bold", box=None, pad_edge=False)
    for name in ("node", "computed as", "shape", "value", "d loss / d node"):
        table.add_column(name, no_wrap=name != "computed as")
    for each in record["nodes"]:
        how = f"{each['operation']}({', '.join(each['inputs'])})" if each["operation"] else "given"
        shape = " x ".join(map(str, each["shape"])) or "number"
        gradient = "" if each["gradient"] is None else first_numbers(each["gradient"])
        cells = [each["name"], how, shape, first_numbers(each["value"]), gradient]
        table.add_row(*map(Text, cells))
    return table


def first_numbers(value: Any) -> str:
    """The first numbers of a tensor, in a line."""
    flat = np.asarray(array_of(value)).reshape(-1)
    shown = " ".join(f"{float(each):.4g}" for each in flat[:SHOWN])
    return shown + (" ..." if len(flat) > SHOWN else "")


def graph_rows(record: Record) -> list[Record]:
    """A row for each node."""
    return record["nodes"]
