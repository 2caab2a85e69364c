"""Records of word vectors as tables."""

from __future__ import annotations

from typing import Any

from rich.table import Column, Table
from rich.text import Text

from seriatim.records import Record
from seriatim.show.tables import next_lines as next_lines


def word_figures(record: Record) -> Table:
    """How far word vectors can be trusted: analogies by section, or the correlation with human
    similarity."""
    table = Table(
        "",
        *(Column(name, justify="right") for name in ("right", "asked", "in the file")),
        box=None,
        pad_edge=False,
    )
    figure = "spearman" if record["questions_are"] == "similarity" else "accuracy"
    if figure == "spearman":
        value = "-" if record["spearman"] is None else f"{record['spearman']:.4f}"
        table.add_row(
            "Spearman's correlation", value, f"{record['asked']:,}", f"{record['pairs']:,}"
        )
    else:
        total = {"section": "all"} | record
        for each in (
            *record["sections"],
            *({"section": name, "accuracy": record[name]} for name in ("semantic", "syntactic")),
            total,
        ):
            share = "-" if each["accuracy"] is None else f"{100 * each['accuracy']:.1f} %"
            table.add_row(
                Text(each["section"], "bold" if each is total else ""),
                share,
                *(f"{each[name]:,}" if name in each else "" for name in ("asked", "questions")),
            )
    low, high = record["interval"][figure]
    if low is not None:
        table.add_row(Text("95 % interval", "dim"), Text(f"{low:.4f} to {high:.4f}", "dim"))
    return table


def ranking(record: Record) -> str:
    """A line for each word, its cosine or probability first."""
    return "\n".join(f"{score_of(each):8.4f}  {each['word']}" for each in record["found"])


def rankings(record: Record) -> str:
    """A line for each question, with all its answers."""
    return "\n".join(
        "\t".join([each["query"], *(f"{one['word']} {score_of(one):.4f}" for one in each["found"])])
        for each in record["items"]
    )


def score_of(found: dict[str, Any]) -> float:
    """The cosine of a word that was found, or its probability."""
    return found["probability"] if "probability" in found else found["cosine"]


def pairs(record: Record) -> Table:
    """A line for each target: the word before it, the bag around it, and each word of that alone."""
    table = Table(
        "predictor", "cbow", Column("skip-gram", overflow="fold"), box=None, pad_edge=False
    )
    before, single = record["rungs"]["predictor"], iter(record["rungs"]["skip-gram"])
    for place, bag in enumerate(record["rungs"]["cbow"], int(record["start"])):
        alone = [next(single) for _ in bag["context"]]
        cells = [
            arrow(before[place - 1]["input"], bag["target"]) if place else "",
            arrow(" ".join(bag["context"]), bag["target"]),
            ", ".join(arrow(each["input"], each["target"]) for each in alone),
        ]
        table.add_row(*map(Text, cells))
    return table


def arrow(source: str, target: str) -> str:
    """What is guessed from what."""
    return f"{source} -> {target}"


def pair_rows(record: Record) -> list[dict[str, Any]]:
    """A row for each pair of each rung."""
    return [
        {"rung": rung, "input": " ".join(each.get("context") or [each["input"]])}
        | {"target": each["target"]}
        for rung, found in record["rungs"].items()
        for each in found
    ]


def exported(record: Record) -> str:
    """What was written."""
    return f"{record['out']}: {record['words']:,} words, {record['width']} wide"
