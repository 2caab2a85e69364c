"""Tables of found labels and values against true ones, from the records of `seriatim.agreement`. Shapes: K labels."""
from __future__ import annotations

from typing import Any

from rich.console import Group
from rich.table import Column, Table
from rich.text import Text

from seriatim.display import bar, visible

WHOLE, MOST_PAIRS = 12, 10                # labels whose whole confusion matrix is shown, and confusions that are told of more
ROOM = 60                                 # letters for the names of its columns


def label_figures(record: dict[str, Any]) -> Group:
    """A `report`: headline figures, a row for each label, and what was taken for what."""
    confusions = matrix if len(record["classes"]) <= WHOLE else frequent_confusions
    return Group(headline(record), Text(), by_label(record), Text(), confusions(record))


def headline(record: dict[str, Any]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    low, high = record["interval"]
    table.add_row("accuracy", f"{record['accuracy']:.4f}   (95 % interval {low:.4f} to {high:.4f})")
    table.add_row("majority", f"{record['majority']:.4f}   (the accuracy of always choosing the most frequent label)")
    for mean in ("macro", "micro"):
        table.add_row(f"{mean} F1", "{f1:.4f}   (precision {precision:.4f}, recall {recall:.4f})".format(**record[mean]))
    table.add_row("weighted F1", f"{record['weighted_f1']:.4f}")
    table.add_row("Matthews", f"{record['matthews']:.4f}")
    table.add_row("examples", f"{record['count']:,}")
    if "calibration" in record:
        sure = record["calibration"]
        loss, seen = ("infinite" if each is None else f"{each:.4f}" for each in (sure["log_loss"], record.get("log_loss_of_seen")))
        others = f"{seen} without labels unseen in training, " if record.get("unseen_labels") else ""
        table.add_row("log loss", f"{loss}   ({others}calibration error {sure['error']:.4f})")
    if record.get("unseen_labels"):
        unseen = ", ".join(f"{visible(name)} {count:,}" for name, count in list(record["unseen_labels"].items())[:MOST_PAIRS])
        table.add_row("labels unseen in training", Text(f"{unseen}   (counted as wrong)"))
    for name in ("known_words", "unknown_words"):
        if record.get(name, {}).get("words"):
            table.add_row(name.replace("_", " "), f"{record[name]['accuracy']:.4f}   ({record[name]['words']:,} words)")
    if "spans" in record:
        table.add_row("spans F1", "{f1:.4f}   (precision {precision:.4f}, recall {recall:.4f})".format(**record["spans"]))
    if "threshold" in record:
        found = record["threshold"]
        table.add_row("threshold", f"{found['positive']} from {found['threshold']:.6g} on: recall {found['recall']:.4f}, precision {found['precision']:.4f}, "
                                   f"{100 * found['false']:.3g} % of the others")
    return table


def by_label(record: dict[str, Any]) -> Table:
    """A row for each label, with its F1 as a bar."""
    table = Table("label", *(Column(name, justify="right") for name in ("precision", "recall", "F1")), "", Column("examples", justify="right"),
                  header_style="bold", box=None, pad_edge=False)
    for each in record["classes"]:
        table.add_row(name_of(each), *(f"{each[name]:.4f}" for name in ("precision", "recall", "f1")), bar(each["f1"], 12).ljust(12), f"{each['support']:,}")
    return table


def matrix(record: dict[str, Any]) -> Table:
    """A row for each true label, a column for each found one; columns have the numbers of the rows where the names are too long."""
    names = [visible(each["name"]) for each in record["classes"]]
    heads = names if sum(map(len, names)) + 2 * len(names) <= ROOM else [str(row) for row in range(1, len(names) + 1)]
    table = Table(Column("true \\ found", no_wrap=True, max_width=24, min_width=12), *(Column(Text(head), justify="right", no_wrap=True) for head in heads),
                  header_style="bold", box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for row, (name, counts) in enumerate(zip(names, record["confusion"])):
        table.add_row(Text(name if heads is names else f"{row + 1} {name}", overflow="ellipsis"),
                      *(Text(f"{count:,}" if count else "·", style="bold" if column == row else "" if count else "dim") for column, count in enumerate(counts)))
    return table


def frequent_confusions(record: dict[str, Any]) -> Table:
    """The mistakes that were made most often."""
    pairs = [(count, row, column) for row, counts in enumerate(record["confusion"]) for column, count in enumerate(counts) if count and row != column]
    table = Table("true", "found", Column("times", justify="right"), Column("of the true", justify="right"), header_style="bold", box=None, pad_edge=False)
    for count, row, column in sorted(pairs, key=lambda pair: -pair[0])[:MOST_PAIRS]:
        true, found = record["classes"][row], record["classes"][column]
        table.add_row(name_of(true), name_of(found), f"{count:,}", f"{100 * count / true['support']:.1f} %")
    return table


def explanation(record: dict[str, Any]) -> Group:
    """Why a label: each symbol with what it added, towards the label or against it."""
    title = Text.assemble((record["label"], "bold"), f"   {100 * record['probability']:.2f} %", (f"   {record['model']}, {record['method']}", "dim"))
    table = Table("symbol", Column("adds", justify="right"), "", header_style="bold", box=None, pad_edge=False)
    most = max(abs(each["contribution"]) for each in record["symbols"]) or 1.0
    for each in record["symbols"]:
        value = each["contribution"]
        table.add_row(Text(visible(each["symbol"])), f"{value:+.3f}", Text(bar(abs(value) / most, 24), style="#4f8a9b" if value > 0 else "#c1440e"))
    total = f"before {record['before']:+.3f} and symbols {record['logit'] - record['before'] - record['gap']:+.3f} = logit {record['logit']:+.3f}"
    gap = "" if abs(record["gap"]) < 5e-4 else f", {record['gap']:+.3f} unexplained"
    return Group(title, table, Text(total + gap, style="dim"))


def value_figures(record: dict[str, Any]) -> Table:
    """A `value_report`, with the protocol below."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    table.add_row("MAE", "{:.5g}   (95 % interval {:.5g} to {:.5g})".format(record["mae"], *record["interval"]))
    table.add_row("RMSE", f"{record['rmse']:.5g}")
    table.add_row("R²", "undefined: all values are equal" if record["r_squared"] is None else f"{record['r_squared']:.4f}")
    skill = "undefined" if record["skill"] is None else f"{100 * record['skill']:+.1f} %"
    table.add_row("skill", f"{skill}   (MAE against {record['floor_mae']:.5g} of always saying the mean of the training values)")
    table.add_row("nats per value", f"{record['nats_per_value']:.4f}")
    table.add_row("inside 80 %", f"{100 * record['coverage']:.1f} %   (mean width {record['width']:.5g})")
    table.add_row("sequences", f"{record['count']:,}, {record['seconds']:.1f} s")
    for name, value in record["protocol"].items():
        table.add_row(f"protocol: {name.replace('_', ' ')}", str(value))
    return table


def name_of(each: dict[str, Any]) -> Text:
    return Text(visible(each["name"]), no_wrap=True, overflow="ellipsis")
