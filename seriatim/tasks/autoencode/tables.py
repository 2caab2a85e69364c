"""How good vectors of sequences are, as a table."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from seriatim.records import Record
from seriatim.show.tables import add_against, add_protocol
from seriatim.show.tables import score_lines as score_lines


def vector_figures(record: Record) -> Table:
    """Nats, what the vectors say, and how well sequences are written again."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    low, high = record["interval"]["nats_per_symbol"]
    table.add_row(
        "nats per symbol",
        f"{record['nats_per_symbol']:.4f}   "
        f"(95 % interval {low:.4f} to {high:.4f}; {record['protocol']['nats']})",
    )
    table.add_row("nats per sequence", f"{record['nats_per_sequence']:.2f}")
    if record["entropy"] is not None:
        table.add_row(
            "above the limit", f"{record['excess']:+.4f}   (true entropy {record['entropy']:.4f})"
        )
    if record["report"]:
        said = record["report"]
        table.add_row("bound", f"{record['bound_per_symbol']:.4f} nats per symbol")
        table.add_row(
            "written, said",
            f"{said['written']:.2f} nats to write a sequence, "
            f"{said['said']:.2f} nats said by its vector (KL)",
        )
        table.add_row("active numbers", f"{said['active']} of {said['latent']}")
        table.add_row(
            "information",
            "of a plain vector: not defined"
            if said["information"] is None
            else f"{said['information']:.2f} nats   (estimated from {said['sequences']} sequences)",
        )
        table.add_row("another's vector", f"{said['shuffled']:+.2f} nats to write a sequence")
    if record["rewritten"]:
        for name, each in (
            ("written again", record["rewritten"]),
            ("  by chance", record["rewritten"]["by_chance"]),
        ):
            table.add_row(name, written_again(each))
    if record["classified"]:
        found = record["classified"]
        table.add_row(
            f"{found['field']}, by Bayes",
            f"{found['accuracy']:.2%} right, log loss {found['log_loss']:.4f}",
        )
    table.add_row(
        "sequences",
        f"{record['sequences']:,} with {record['symbols']:,} symbols, "
        f"{record['unknown']:,} unknown, in {record['seconds']:.1f} s",
    )
    add_against(table, record)
    add_protocol(table, record)
    if record["report"]:
        table.add_row("in a sentence", record["report"]["words"])
    return table


def written_again(figures: dict[str, Any]) -> str:
    """How near what was written is to what it should be, in a line."""
    line = (
        f"{figures['exact']:7.2%} exact, BLEU {figures['bleu']:.2f}, "
        f"word error {figures['word_error']:.1%}"
    )
    short = figures["short"]
    if short is None:
        return line
    few = f"of {short['sequences']} short ones {short['exact']:.2%}, BLEU {short['bleu']:.2f}"
    return f"{line}   ({few})"


def told(item: dict[str, Any]) -> str:
    """A result in a line, or in lines."""
    if "text" in item:
        return item["text"]
    rows = item["numbers"]
    if len(rows[0]) == 3 and all(row[2] in (0.0, 1.0) for row in rows):
        strokes = int(sum(row[2] for row in rows)) + (rows[-1][2] == 0)
        points = f"{len(rows)} point{'s' * (len(rows) > 1)}"
        several = f"{strokes} stroke{'s' * (strokes > 1)}"
        return f"a drawing: {points}, {several} (--out FILE.svg to see it)"
    return "\n".join("\t".join(f"{value:.6g}" for value in row) for row in rows) + "\n"


def written_lines(record: Record) -> str:
    """What was written; before it, where it was not asked for, what it is conditioned on."""
    lines = []
    for item in record["items"]:
        unasked = item.get("condition") and not record.get("label")
        drawn = ",".join(item["condition"].values()) + "\t" if unasked else ""
        lines.append(drawn + told(item))
    return "\n".join(lines)


def label_lines(record: Record) -> str:
    """A line for each sequence: its label, and the likeliest labels with their probabilities."""
    lines = []
    for item in record["items"]:
        several = (f"{each['label']} {each['probability']:.4f}" for each in item["probabilities"])
        lines.append("\t".join([item["label"], *several]))
    return "\n".join(lines)


def neighbour_lines(record: Record) -> str:
    """A line for each of the nearest sequences, its cosine first."""
    return "\n".join(f"{each['cosine']:8.4f}  {each['sequence']}" for each in record["items"])
