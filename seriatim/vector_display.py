"""How good vectors of sequences are, as a table."""
from __future__ import annotations

from typing import Any

from rich.table import Table


def vector_figures(record: dict[str, Any]) -> Table:
    """The record of a `VectorPredictor`'s evaluation."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    low, high = record["interval"]["nats_per_symbol"]
    table.add_row("nats per symbol", f"{record['nats_per_symbol']:.4f}   (95 % interval {low:.4f} to {high:.4f}; {record['protocol']['nats']})")
    table.add_row("nats per sequence", f"{record['nats_per_sequence']:.2f}")
    if record["entropy"] is not None:
        table.add_row("above the limit", f"{record['excess']:+.4f}   (true entropy {record['entropy']:.4f})")
    if record["report"]:
        said = record["report"]
        table.add_row("bound", f"{record['bound_per_symbol']:.4f} nats per symbol")
        table.add_row("written, said", f"{said['written']:.2f} nats to write a sequence, {said['said']:.2f} nats said by its vector (KL)")
        table.add_row("active numbers", f"{said['active']} of {said['latent']}")
        table.add_row("information", "of a plain vector: not defined" if said["information"] is None else
                      f"{said['information']:.2f} nats   (estimated from {said['sequences']} sequences)")
        table.add_row("another's vector", f"{said['shuffled']:+.2f} nats to write a sequence")
    if record["rewritten"]:
        for name, each in (("written again", record["rewritten"]), ("  by chance", record["rewritten"]["by_chance"])):
            table.add_row(name, f"{each['exact']:7.2%} exact, BLEU {each['bleu']:.2f}, word error {each['word_error']:.1%}"
                          + ("" if each["short"] is None else f"   (of {each['short']['sequences']} short ones {each['short']['exact']:.2%}, BLEU "
                             f"{each['short']['bleu']:.2f})"))
    if record["classified"]:
        found = record["classified"]
        table.add_row(f"{found['field']}, by Bayes", f"{found['accuracy']:.2%} right, log loss {found['log_loss']:.4f}")
    table.add_row("sequences", f"{record['sequences']:,} with {record['symbols']:,} symbols, {record['unknown']:,} unknown, in {record['seconds']:.1f} s")
    for name, value in record["protocol"].items():
        table.add_row(f"protocol: {name.replace('_', ' ')}", str(value))
    if record["report"]:
        table.add_row("in a sentence", record["report"]["words"])
    return table
