"""How good translations are, as a table."""
from __future__ import annotations

from typing import Any

from rich.table import Table


def translation_figures(record: dict[str, Any]) -> Table:
    """The record of a `Translator`'s evaluation."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    bounds = record["interval"]
    table.add_row("chrF", "{:.2f}   (95 % interval {:.2f} to {:.2f})".format(record["chrf"]["score"], *bounds["chrf"]))
    table.add_row("BLEU", f"{record['bleu']['score']:.2f}   (lower-cased {record['bleu_lower']['score']:.2f})")
    table.add_row("exact", "{:.2f} %   ({:.2f} to {:.2f})".format(*(100 * each for each in (record["exact"], *bounds["exact"]))))
    table.add_row("token error", f"{100 * record['token_error']:.2f} %   (words {100 * record['wer']:.2f} %, characters {100 * record['cer']:.2f} %)")
    table.add_row("METEOR, ROUGE-L", f"{record['meteor']['score']:.4f}, {record['rouge']['rougeL']:.4f}")
    table.add_row("nats per token", f"{record['nats_per_token']:.4f}   (perplexity {record['perplexity']:.2f} of the references)")
    if "against" in record:
        other = record["against"]
        table.add_row("against", "{run}: chrF {difference:+.2f} ({low:+.2f} to {high:+.2f}), p = {p:.3f}".format(**other))
    table.add_row("sources", f"{record['sources']:,} in {record['seconds']:.1f} s, {record['sources_per_second']:.1f} a second")
    for each in record["by_length"] if len(record["by_length"]) > 1 else ():
        table.add_row(f"  of length {each['from']} to {each['to']}", f"{100 * each['exact']:6.2f} % exact, {100 * each['token_error']:6.2f} % token error")
    for name in ("bleu", "chrf", "meteor", "rouge"):
        table.add_row(f"signature: {name}", record[name]["signature"])
    for name, value in record["protocol"].items():
        table.add_row(f"protocol: {name.replace('_', ' ')}", str(value))
    return table
