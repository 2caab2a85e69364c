"""Records of translators as tables and lines."""

from __future__ import annotations

from rich.table import Table

from seriatim.records import Record
from seriatim.show.tables import add_against, add_protocol, generated_lines, score_lines

__all__ = ["generated_lines", "score_lines", "target_lines", "translation_figures"]


SIGNED = ("bleu", "chrf", "meteor", "rouge")  # figures that have signatures


def target_lines(record: Record) -> str:
    """A target for each source, a line each; of several results each with its score, and a blank
    line behind."""
    lines = []
    for item in record["items"]:
        possible = (each for each in item["results"] if each["score"] is not None)
        ranked = [f"{each['score']:.4f}\t{each['target']}" for each in possible]
        lines += [*ranked, ""] if record["count"] > 1 else [item["target"]]
    return "\n".join(line.replace("\n", " ") for line in lines)


def translation_figures(record: Record) -> Table:
    """An evaluation as two columns: name and value, with signatures and protocol below."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    for name, value in (*figures(record), *counts(record)):
        table.add_row(name, value)
    for name in SIGNED:
        if record["chrf"] is not None:
            table.add_row(f"signature: {name}", record["signatures"][name])
    add_against(table, record)
    add_protocol(table, record)
    return table


def figures(record: Record) -> list[tuple[str, str]]:
    """What the translations are worth; of single words without figures of sentences."""
    exact, *within = (100 * each for each in (record["exact"], *record["interval"]["exact"]))
    rows = [("exact", "{:.2f} %   (95 % interval {:.2f} to {:.2f})".format(exact, *within))]
    rates = [("tokens", record["token_error"]), ("characters", record["cer"])]
    if record["chrf"] is not None:
        low, high = record["interval"]["chrf"]
        lowered = record["bleu_lower"]
        rows = [
            ("chrF", f"{record['chrf']:.2f}   (95 % interval {low:.2f} to {high:.2f})"),
            ("BLEU", f"{record['bleu']:.2f}   (lower-cased {lowered:.2f})"),
            ("exact", "{:.2f} %   ({:.2f} to {:.2f})".format(exact, *within)),
            ("METEOR, ROUGE-L", f"{record['meteor']:.4f}, {record['rougeL']:.4f}"),
        ]
        rates.insert(1, ("words", record["wer"]))
    wrong = ", ".join(f"{name} {100 * rate:.2f} %" for name, rate in rates)
    rows += [("edits", wrong), ("nats per token", likelihood(record))]
    return rows


def likelihood(record: Record) -> str:
    """How probable the references are."""
    nats, perplexity = record["nats_per_token"], record["perplexity"]
    if nats is None:
        return "infinite: some references have probability 0"
    words = "too large to be written" if perplexity is None else f"{perplexity:.2f}"
    return f"{nats:.4f}   (perplexity {words} of the references)"


def counts(record: Record) -> list[tuple[str, str]]:
    """How much was translated, and how well by length."""
    a_second = record["sources"] / max(record["seconds"], 1e-9)
    speed = f"{record['seconds']:.1f} s, {a_second:.1f} a second"
    groups = record["by_length"] if len(record["by_length"]) > 1 else []
    return [
        ("sources", f"{record['sources']:,} in {speed}"),
        *(
            (
                f"  of length {each['from']} to {each['to']}",
                f"{100 * each['exact']:6.2f} % exact, {each['token_error']:.3f} edits per symbol",
            )
            for each in groups
        ),
    ]
