"""Records of marks as tables and lines."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table
from rich.text import Text

from seriatim.data.sequences import names_of
from seriatim.records import Record
from seriatim.show.tables import add_against, add_protocol
from seriatim.tasks.labels.tables import by_label, of_three


def mark_figures(record: Record) -> Group:
    """How well labels were found, all together and each by itself."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    ends = "95 % interval {:.4f} to {:.4f}".format(*record["interval"]["bits_per_sequence"])
    table.add_row("bits per sequence", f"{record['bits_per_sequence']:.4f}   ({ends})")
    table.add_row("micro F1", of_three(record["micro"]))
    table.add_row("macro F1", f"{record['macro_f1']:.4f}")
    table.add_row("exact", f"{100 * record['exact']:.2f} %")
    more = f"{record['labels']:,} labels, {record['unknown']:,} more unknown"
    table.add_row("sequences", f"{record['sequences']:,} with {more}")
    add_against(table, record)
    add_protocol(table, record)
    return Group(table, Text(), by_label(record))


def mark_lines(record: Record) -> str:
    """The labels of each sequence between bars, and the likeliest with their probabilities."""
    return "\n".join(
        "\t".join(
            [
                "|".join(names_of(item["labels"])[0]),
                *(
                    f"{names_of([each['label']])[0][0]} {each['probability']:.4f}"
                    for each in item["probabilities"]
                ),
            ]
        )
        for item in record["items"]
    )


def mark_rows(record: Record) -> list[Record]:
    """A row for each sequence: its labels between bars, and how likely the likeliest are."""
    return [
        {
            "labels": "|".join(names_of(item["labels"])[0]),
            **{
                f"probability of {each['label']}": each["probability"]
                for each in item["probabilities"]
            },
        }
        for item in record["items"]
    ]
