"""The table of a comparison, best first. What it is ranked by depends on the task; how that is written is told here, once."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from seriatim.display import short


@dataclass(frozen=True)
class Figure:
    """What a task is measured by: its name in a table and in a sentence, how it is written, and what stands beside it."""
    title: str
    words: str
    form: str
    beside: tuple[tuple[str, str, str], ...]           # title, key, form
    test: str                                          # how two models are told apart

    def write(self, value: float | None) -> str:
        return "impossible" if value is None else self.form.format(value)


FIGURES = {
    "bits_per_character": Figure("bits/char", "bits per character", "{:.3f}", (("nats/token", "nats_per_token", "{:.4f}"),), "paired bootstrap, 95 %"),
    "accuracy": Figure("accuracy", "right", "{:.2%}", (("macro F1", "macro_f1", "{:.3f}"), ("log loss", "log_loss", "{:.4f}")),
                       "McNemar's test or paired bootstrap, 95 %"),
    "bits_per_step": Figure("bits/step", "bits per step", "{:.3f}", (("F1", "f1", "{:.3f}"), ("exact", "exact", "{:.2%}")), "paired bootstrap, 95 %"),
    "mae": Figure("MAE", "mean absolute error", "{:.4g}", (("RMSE", "rmse", "{:.4g}"), ("R²", "r_squared", "{:.3f}"), ("skill", "skill", "{:.1%}"),
                                                          ("nats/value", "nats_per_value", "{:.3f}"), ("in 80 %", "coverage", "{:.0%}")),
                  "paired bootstrap, 95 %"),
    "mase": Figure("MASE", "MASE", "{:.3f}", (("MAE", "mae", "{:.4g}"), ("RMSE", "rmse", "{:.4g}"), ("CRPS", "crps", "{:.4g}"),
                                              ("skill", "skill", "{:.1%}"), ("in 80 %", "coverage", "{:.0%}")), "Diebold and Mariano's test, 95 %"),
    "nats_per_symbol": Figure("nats/symbol", "nats per symbol", "{:.3f}", (("KL", "said", "{:.2f}"), ("active", "active", "{}"),
                              ("exact", "exact", "{:.2%}")), "paired bootstrap, 95 %"),
    "chrf": Figure("chrF", "chrF", "{:.2f}", (("BLEU", "bleu", "{:.2f}"), ("exact", "exact", "{:.2%}"), ("nats/token", "nats_per_token", "{:.4f}")),
                   "paired bootstrap, 95 %"),
}
WIDE = {"nats/token", "nats/value", "size", "symbols/s"}             # left out where there are fewer than 120 columns; table.json has them all


def footnotes(record: dict[str, Any]) -> list[str]:
    """What a reader of the table must know, where it applies."""
    notes = []
    if any(row["tied"] for row in record["rows"][1:]):
        notes.append(f"= not significantly different from the best ({FIGURES[record['figure']].test})")
    if record["protocol"] and "not modelled" in record["protocol"]["text"]:
        notes.append("blanks are not modelled: bits per character do not compare with those of characters, bytes or subwords")
    if record["folds"]:
        notes.append(f"{record['folds']} folds: every sequence was the test once; seconds are those of all fits together")
    return notes


def leaderboard(record: dict[str, Any], wide: bool = True) -> Table:
    figure, voice = FIGURES[record["figure"]], any("sample" in row for row in record["rows"])
    notes = footnotes(record) + [f"{row['model']} {row['status']}: {row['reason']}" for row in record["rows"] if row["status"] != "ok"]
    table = Table(title=Text(f"{Path(record['data']).name}: {record['task']} by {record['unit']}"), title_justify="left", caption_justify="left",
                  caption=Text("\n".join(notes)), header_style="bold", box=None, pad_edge=False)
    columns = ("", "model", figure.title, "95 %", *(title for title, _, _ in figure.beside), "fit s", "parameters", "size", "symbols/s",
               *(["sample"] if voice else []))
    shown = [name for name in columns if wide or name not in WIDE]
    for name in shown:
        table.add_column(name, justify="left" if name in ("", "model", "95 %", "sample") else "right", no_wrap=name != "sample")
    for place, row in enumerate(record["rows"], 1):
        if row["status"] != "ok":
            table.add_row("", row["model"], row["status"], style="red")
            continue
        low, high = row["interval"]
        cells = {"": "=" if row["tied"] and place > 1 else str(place), "model": row["model"], figure.title: figure.write(row[record["figure"]]),
                 "95 %": "" if low is None else f"{figure.write(low).removesuffix('%')}-{figure.write(high)}", "fit s": f"{row['seconds']:.1f}",
                 "parameters": short(row["parameters"]), "size": short(row["size_bytes"]) + "B", "symbols/s": short(row["symbols_per_second"]),
                 "sample": Text(repr(row.get("sample", ""))[1:-1], no_wrap=True, overflow="ellipsis")}
        cells |= {title: "" if row[key] is None else form.format(row[key]) for title, key, form in figure.beside}
        table.add_row(*(cells[name] for name in shown), style="bold" if place == 1 else None)
    return table
