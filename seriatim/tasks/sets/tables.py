"""Records of sets as tables and lines."""

from __future__ import annotations

from rich.table import Table

from seriatim.records import Record
from seriatim.show.tables import add_against, add_protocol, generated_lines, next_lines, score_lines

__all__ = ["generated_lines", "next_lines", "score_lines", "set_figures"]


def set_figures(record: Record) -> Table:
    """How well sets were predicted: a `SetPredictor`'s record."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    ends = "95 % interval {:.4f} to {:.4f}".format(*record["interval"]["bits_per_step"])
    table.add_row("bits per step", f"{record['bits_per_step']:.4f}   ({ends})")
    table.add_row("nats per step", f"{record['nats_per_step']:.4f}")
    shares = "precision {precision:.4f}, recall {recall:.4f}".format(**record)
    table.add_row("F1 of elements", f"{record['f1']:.4f}   ({shares})")
    table.add_row("exact sets", f"{100 * record['exact']:.2f} %")
    several = f"{record['sequences']:,} sequence{'s' * (record['sequences'] != 1)}"
    elements = f"{record['elements']:,} elements, {record['unknown']:,} more unknown"
    table.add_row("steps", f"{record['steps']:,} with {elements}, in {several}")
    if record["excess_bits"] is not None:
        true = f"true entropy {record['entropy_bits']:.4f} bits per step"
        table.add_row("source", f"{true}; this model is {record['excess_bits']:+.4f} away")
    add_against(table, record)
    add_protocol(table, record)
    return table
