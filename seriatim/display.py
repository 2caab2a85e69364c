"""What a person sees while waiting, and the tables afterwards. Reads events and records, computes nothing.

Progress goes to stderr: live bars in a terminal, a plain line now and then elsewhere.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console, Group
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Column, Table
from rich.text import Text

from seriatim.waiting import listening

Returned = TypeVar("Returned")
Event = dict[str, Any]
PLAIN_SECONDS = 15.0                      # between two lines where there is no terminal
WATCHED = ("analogies", "similarity")     # what may be looked at with every validation, besides the loss


def follow(events: Generator[Event, None, Returned], show: bool) -> Returned:
    """Run a fit or a comparison to its end; Ctrl-C reaches the fit wherever it strikes."""
    watcher = Watcher() if show else None
    try:
        while True:
            try:
                event = next(events)
                if watcher:
                    watcher.see(event)
            except KeyboardInterrupt:
                event = events.throw(KeyboardInterrupt())
                if watcher:
                    watcher.see(event)
    except StopIteration as end:
        return end.value
    finally:
        if watcher:
            watcher.close()


class Watcher:
    """One bar for each model under way."""

    def __init__(self, passing: bool = False) -> None:
        self.console = Console(stderr=True, soft_wrap=True)
        self.live = self.console.is_terminal
        self.progress = Progress(TextColumn("{task.description:<14}"), BarColumn(bar_width=28), TextColumn("{task.fields[words]}"),
                                 console=self.console, transient=passing)
        self.bars: dict[str, TaskID] = {}
        self.model, self.printed, self.held = "", 0.0, ""
        if self.live:
            self.progress.start()

    def see(self, event: Event) -> None:
        handler = getattr(self, "on_" + event["event"], None)
        if handler:
            handler(event)

    def on_plan(self, event: Event) -> None:
        for model in event["models"]:
            self.bar(model, 0.0, "waiting")

    def on_data(self, event: Event) -> None:
        self.model = event.get("model", self.model)
        if not event.get("quiet"):
            size = "channels" if event["unit"] in ("step", "value") else "vocabulary"
            self.console.print(f"[dim]{escape(event['train'])}: {event['symbols']:,} {event['unit']}s, {event['sequences']:,} "
                               f"sequence{'s' * (event['sequences'] != 1)}, {size} {event['vocabulary']:,}[/dim]", highlight=False)

    def on_part(self, event: Event) -> None:
        if event["parts"] > 1 or not self.model:
            self.model = event["model"]
        self.printed, self.held = 0.0, ""

    def on_begin(self, event: Event) -> None:
        if event.get("resumed"):
            self.console.print(f"[dim]{escape(self.model)}: resumed after {event['step']:,} updates[/dim]", highlight=False)

    def on_step(self, event: Event) -> None:
        words = f"loss {event['loss']:.3f}{self.held}  {clock(event['remaining'])} left"
        self.bar(self.model, event["share"], words)
        if not self.live and event["seconds"] - self.printed > PLAIN_SECONDS:
            self.printed = event["seconds"]
            self.console.print(f"{self.model}: {100 * event['share']:.0f} %  {words}", highlight=False)

    def on_validation(self, event: Event) -> None:
        watched = "".join(f"  {name} {event[name]:.3f}" for name in WATCHED if event.get(name) is not None)
        self.held = f"  valid {event['best']:.3f}{watched}"

    def on_pass(self, event: Event) -> None:
        if event["seconds"] > 0.5:
            words = event["words"] + (f"  {clock(event['remaining'])} left" if "remaining" in event else "")
            self.bar(self.model, event["share"], words)
            self.printed = min(self.printed, event["seconds"])                    # another loop has begun
            if not self.live and event["seconds"] - self.printed > PLAIN_SECONDS:
                self.printed = event["seconds"]
                self.console.print(f"{self.model}: {100 * event['share']:.0f} %  {words}", highlight=False)

    def on_note(self, event: Event) -> None:
        whose = f"{event['model']}: " if "model" in event else ""                 # in a comparison
        self.console.print(f"[dim]{escape(whose + event['words'])}[/dim]", highlight=False)

    def on_trial(self, event: Event) -> None:
        if "rows" in event:
            self.console.print(f"[dim]{escape(self.model)}: {event['rows']} rows[/dim]", highlight=False)
            return
        if "parts" in event:
            chosen = f"batches in {event['parts']} parts side by side" if event["parts"] > 1 else "batches whole"
        else:
            chosen = event.get("precision") or ("compiled" if event["compiled"] else "not compiled")
        times = ", ".join(f"{name.removesuffix('_seconds')} {1000 * value:.0f} ms" for name, value in event.items() if name.endswith("_seconds") and value)
        self.console.print(f"[dim]{escape(self.model)}: {chosen} ({times} a batch)[/dim]", highlight=False)

    def on_counted(self, event: Event) -> None:
        self.bar(self.model, 1.0, f"counted {event['symbols']:,} symbols in {event['seconds']:.1f} s")

    def on_end(self, event: Event) -> None:
        valid = "" if event["valid"] is None else f"valid {event['valid']:.3f}  "
        self.bar(self.model, 1.0, f"{valid}{event['step']:,} updates in {clock(event['seconds'])}")

    def on_interrupted(self, event: Event) -> None:
        self.console.print(f"[yellow]interrupted after {event['step']:,} updates: keeping the best so far[/yellow]")

    def on_rung(self, event: Event) -> None:
        self.bar(event["model"], 1.0, event["words"])
        if not self.live:
            self.console.print(f"{event['model']}: {event['words']}", highlight=False)

    def on_warning(self, event: Event) -> None:
        self.console.print(f"[yellow]{event['words']}[/yellow]", highlight=False)

    def bar(self, model: str, share: float, words: str) -> None:
        if model not in self.bars:
            self.bars[model] = self.progress.add_task(model, total=1.0, words=words)
        self.progress.update(self.bars[model], completed=share, words=words)

    def close(self) -> None:
        if self.live:
            self.progress.stop()


def watched(name: str, work: Callable[..., Returned], *given: Any, **settings: Any) -> Returned:
    """Do something that may take long, and show how far it is until it is done."""
    watcher = Watcher(passing=True)
    watcher.model = name
    try:
        with listening(watcher.see):
            return work(*given, **settings)
    finally:
        watcher.close()


def clock(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{int(seconds // 60)} min {int(seconds % 60):02d} s"


def output() -> Console:
    """Where results go: stdout, as wide as the terminal, or wide enough when it is a file."""
    return Console() if sys.stdout.isatty() else Console(width=160, no_color=True, highlight=False)


def write(table: Table) -> None:
    """Print a table; in a file without the blanks that fill its lines."""
    console = output()
    if sys.stdout.isatty():
        console.print(table)
    else:
        with console.capture() as captured:
            console.print(table)
        sys.stdout.writelines(line.rstrip() + "\n" for line in captured.get().splitlines())


def short(number: float | None) -> str:
    """1234567 -> 1.2M."""
    if number is None:
        return ""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= size:
            return f"{number / size:.1f}{letter}"
    return f"{number:.0f}"


def figures(record: dict[str, Any]) -> Table:
    """An evaluation as two columns: name and value, with the protocol below."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    low, high = record["interval"]["bits_per_character"]
    bounds = "" if low is None else f"   (95 % interval {low:.4f} to {high:.4f})"
    for name in ("bits_per_character", "nats_per_token", "perplexity"):
        value = record[name]
        words = f"infinite: {record['impossible']} symbols have probability 0" if value is None else f"{value:.4f}"
        table.add_row(name.replace("_", " "), words + (bounds if name == "bits_per_character" and value is not None else ""))
    table.add_row("tokens", f"{record['tokens']:,}, {record['unknown']:,} unknown, in {record['sequences']:,} sequence{'s' * (record['sequences'] != 1)}")
    table.add_row("speed", f"{record['tokens_per_second']:,.0f} tokens/s")
    if record["excess_bits"] is not None:
        table.add_row("source", f"true entropy {record['entropy_bits']:.4f} bits per token; this model is {record['excess_bits']:+.4f} away")
    for name, value in record["protocol"].items():
        table.add_row(f"protocol: {name.replace('_', ' ')}", str(value))
    return table


def set_figures(record: dict[str, Any]) -> Table:
    """How well sets were predicted: a `SetPredictor`'s record."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    table.add_row("bits per step", "{:.4f}   (95 % interval {:.4f} to {:.4f})".format(record["bits_per_step"], *record["interval"]["bits_per_step"]))
    table.add_row("nats per step", f"{record['nats_per_step']:.4f}")
    table.add_row("F1 of elements", "{f1:.4f}   (precision {precision:.4f}, recall {recall:.4f})".format(**record))
    table.add_row("exact sets", f"{100 * record['exact']:.2f} %")
    table.add_row("steps", f"{record['steps']:,} with {record['elements']:,} elements, {record['unknown']:,} more unknown, in "
                  f"{record['sequences']:,} sequence{'s' * (record['sequences'] != 1)}")
    if record["excess_bits"] is not None:
        table.add_row("source", f"true entropy {record['entropy_bits']:.4f} bits per step; this model is {record['excess_bits']:+.4f} away")
    for name, value in record["protocol"].items():
        table.add_row(f"protocol: {name.replace('_', ' ')}", str(value))
    return table


def word_figures(record: dict[str, Any]) -> Table:
    """How far word vectors can be trusted: analogies by section, or the correlation with human similarity."""
    table = Table("", *(Column(name, justify="right") for name in ("right", "asked", "in the file")), box=None, pad_edge=False)
    if record["kind"] == "similarity":
        value = "-" if record["spearman"] is None else f"{record['spearman']:.4f}"
        table.add_row("Spearman's correlation", value, f"{record['asked']:,}", f"{record['pairs']:,}")
    else:
        total = {"section": "[bold]all[/bold]"} | record
        for each in (*record["sections"], *({"section": name, "accuracy": record[name]} for name in ("semantic", "syntactic")), total):
            share = "-" if each["accuracy"] is None else f"{100 * each['accuracy']:.1f} %"
            table.add_row(each["section"], share, *(f"{each[name]:,}" if name in each else "" for name in ("asked", "questions")))
    if record["interval"] and record["interval"][0] is not None:
        table.add_row("[dim]95 % interval[/dim]", "[dim]{:.4f} to {:.4f}[/dim]".format(*record["interval"]))
    return table


EIGHTHS = " ▏▎▍▌▋▊▉█"
HEIGHTS = "▁▂▃▄▅▆▇█"
ORDERS = ("#c1440e", "#e0813a", "#d9ad49", "#7fa182", "#4f8a9b", "#8088a6")    # colours of the longest n-gram, the next shorter, ...


def bar(share: float, cells: int) -> str:
    """A bar that fills a share of so many cells, to an eighth of a cell."""
    eighths = round(8 * cells * min(1.0, max(0.0, share)))
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def stacked(row: dict[str, Any], share: float, cells: int = 16) -> Text:
    """A bar whose colours tell how much the n-grams of each length contributed."""
    text, begin, total = Text(bar(share, cells), no_wrap=True), 0.0, row["orders"][0]["probability"] or 1.0
    for each, colour in zip(row["orders"], (*ORDERS, *ORDERS[-1:] * len(row["orders"]))):
        end = begin + each["contribution"] / total
        text.stylize(colour, round(begin * len(text.plain)), round(end * len(text.plain)))
        begin = end
    return text


def back_off(orders: list[dict[str, Any]]) -> list[str]:
    """How a probability came about: order by order what the n-gram kept, and what it borrowed from the shorter one."""
    words, left = [], orders[0]["probability"]
    for each, shorter in zip(orders, [*orders[1:], None]):
        if words and left < 0.02 * orders[0]["probability"]:                      # the rest hardly matters
            break
        kept, lower = f"{each['share']:.3g} + " if each["share"] else "", 0.0 if shorter is None else shorter["probability"]
        if each["lent"] is None and each["count"] is not None:
            words.append(f"{each['probability']:.3g} ({each['count']:,} of {each['context_count']:,})")
        elif each["lent"] is None or shorter is None:
            words.append(f"{each['probability']:.3g}")
        else:
            words.append(f"{each['probability']:.3g} = {kept}{each['lent']:.2g} × {lower:.3g}")
        left = 0.0 if each["lent"] is None else left - each["contribution"]
    return words


def back_offs(rows: list[dict[str, Any]]) -> list[Text]:
    """The same for every row, one order below the other, in the colours of the bars."""
    told = [back_off(row["orders"]) for row in rows]
    widths = [max(len(words[place]) for words in told if len(words) > place) for place in range(max(map(len, told), default=0))]
    texts = []
    for row, words in zip(rows, told):
        texts.append(Text(no_wrap=True, overflow="ellipsis"))
        for place, (each, some, width) in enumerate(zip(row["orders"], words, widths)):
            texts[-1].append(f"{each['order']}: ", ORDERS[min(place, len(ORDERS) - 1)]).append(some.ljust(width + 3))
        texts[-1].rstrip()
    return texts


def continuations(record: dict[str, Any]) -> Group:
    """What stands at the * of a pattern, likeliest first; or the symbols of a phrase in their order."""
    rows, phrase, gap = record["rows"], record["kind"] == "phrase", record["kind"] == "gap"
    title = Text.assemble((record["pattern"], "bold"), (f"   {record['model']}, n-grams up to {record['longest']}, by {record['unit']}", "dim"))
    told = "back-off n: probability = kept by the n-gram + lent by its context × probability after a shorter one"
    told = told if any(row["orders"][0]["lent"] for row in rows) else ""
    if phrase:
        count = "not counted" if record["count"] is None else f"{record['count']:,} times"
        told = f"the whole: {count}, log p {'-inf' if record['log_prob'] is None else format(record['log_prob'], '.4f')}\n{told}".strip()
    table = Table(header_style="bold", box=None, pad_edge=False)
    for name, justify in (("symbol", "left"), ("count", "right"), *([("log p", "right")] if phrase else []),
                          *([("joint", "right"), ("both sides", "right")] if gap else [("probability", "right")]), ("", "left"), ("back-off", "left")):
        table.add_column(name, justify=justify, no_wrap=name != "back-off")
    most = max((row["probability"] for row in rows), default=1.0) or 1.0
    for row, told_back_off in zip(rows, back_offs(rows)):
        symbol = row["symbol"] if record["unit"] in ("word", "token") else repr(row["symbol"])
        figures = [f"{row['probability']:.2e}", f"{row['posterior']:.4f}"] if gap else [f"{row['probability']:.4f}"]
        table.add_row(Text(symbol, no_wrap=True, overflow="ellipsis"), "" if row["count"] is None else f"{row['count']:,}",
                      *(["-inf" if row["log_prob"] is None else f"{row['log_prob']:.4f}"] if phrase else []), *figures,
                      stacked(row, row["probability"] / most), told_back_off)
    return Group(title, table, *([Text(told, style="dim")] if told else []))


def sparkline(values: list[float | None], cells: int = 60) -> str:
    """Values over time as heights of letters; a blank where there are none. Neighbours share a cell if there are too many."""
    step = -(-len(values) // cells)
    means = []
    for begin in range(0, len(values), step):
        some = [value for value in values[begin:begin + step] if value is not None]
        means.append(sum(some) / len(some) if some else None)
    most = max((mean for mean in means if mean is not None), default=0.0) or 1.0
    return "".join(" " if mean is None else HEIGHTS[min(7, int(8 * mean / most))] for mean in means)


MOST_PERIODS = 60                         # rows of the table of periods; with more, the lines above it tell enough


def frequencies(record: dict[str, Any]) -> Group:
    """A line for each phrase with its course, and a row for each period."""
    periods, phrases = record["periods"], record["phrases"]
    smooth = f", mean of {2 * record['smooth'] + 1} in the lines below" if record["smooth"] else ""
    title = Text.assemble((Path(record["data"]).name, "bold"), (f"   per million {record['unit']}s, each {record['every']}{smooth}", "dim"))
    summary = Table(header_style="bold", box=None, pad_edge=False)
    for name, justify in (("phrase", "left"), ("count", "right"), ("highest", "right"), ("in", "left"), (f"{periods[0]} to {periods[-1]}", "left")):
        summary.add_column(name, justify=justify, no_wrap=True)
    for each in phrases:
        highest, place = max((value, -i) for i, value in enumerate(each["smoothed"]) if value is not None)
        summary.add_row(Text(each["phrase"]), f"{each['count']:,}", f"{highest:,.1f}", periods[-place] if each["count"] else "",
                        Text(sparkline(each["smoothed"]), style=ORDERS[0]))
    if len(periods) > MOST_PERIODS:
        return Group(title, summary)
    table = Table(header_style="bold", box=None, pad_edge=False)
    table.add_column(record["every"], style="dim")
    table.add_column(record["unit"] + "s", justify="right", style="dim")
    for each in phrases:
        table.add_column(Text(each["phrase"]), justify="right", no_wrap=True)
        table.add_column("", no_wrap=True)
    most = [max((value for value in each["frequency"] if value is not None), default=0.0) or 1.0 for each in phrases]
    for p, (name, tokens) in enumerate(zip(periods, record["tokens"])):
        cells = ((("", "") if each["frequency"][p] is None else (f"{each['frequency'][p]:,.1f}", Text(bar(each["frequency"][p] / top, 12), style=ORDERS[0])))
                 for each, top in zip(phrases, most))
        table.add_row(name, short(tokens) if tokens else "-", *(cell for pair in cells for cell in pair))
    return Group(title, summary, Text(), table)


# What happens inside a model: records of `seriatim.inspecting`

BITS = (0.5, 1, 2, 4, 8, 16)              # where one shade ends and the next begins
SHADES = ("#fdf7f1", "#fbe6d6", "#f7cbae", "#f0a47b", "#e07a4a", "#c1440e", "#7a2405")


def shade(bits: float | None) -> int:
    """The number of the shade, 0 for what was expected; what was impossible has the strongest."""
    return len(BITS) if bits is None else sum(bits >= bound for bound in BITS)


def style(number: int) -> str:
    return f"{'#22333b' if number < 4 else '#ffffff'} on {SHADES[number]}"


def inside(record: dict[str, Any]) -> Table | Group:
    """Whatever `inspect` gave."""
    coloured = output().color_system is not None and not output().no_color
    return {"attention": heads, "surprisal": surprising_text if coloured else surprisals}.get(record["kind"], by_distance)(record)


def by_distance(record: dict[str, Any]) -> Group:
    """Gradient or influence: a row for each run, a column for each of a few distances."""
    longest = max(len(each["values"]) for each in record["runs"])
    shown = [2 ** i for i in range(longest.bit_length())]
    table, slopes = Table(header_style="bold", box=None, pad_edge=False), record["kind"] == "gradient"
    for name in ("model", *map(str, shown), *(["a place", "spectral radius"] if slopes else [])):
        table.add_column(name, justify="left" if name in ("model", "spectral radius") else "right", no_wrap=name != "spectral radius")
    for each, name in zip(record["runs"], run_names(record)):
        row = ["" if d > len(each["values"]) else "inf" if each["values"][d - 1] is None else f"{each['values'][d - 1]:.2g}" for d in shown]
        if slopes:
            several = len({radius["layer"] for radius in each["radii"]}) > 1
            row += ["" if each["factor"] is None else f"×{each['factor']:.2f}",
                    ", ".join(f"{radius['layer'] + 1}: " * several + f"{radius['matrix']} {radius['radius']:.2f}" for radius in each["radii"])]
        table.add_row(Text(name), *row)
    title = "norm of the gradient of the loss with respect to the symbol so many places back" if slopes else \
        "change of the prediction, in nats, when the symbol so many places back is replaced"
    return Group(Text(title, style="dim"), table)


def run_names(record: dict[str, Any]) -> list[str]:
    """Names of the runs: of their models, with the folder where models are the same."""
    models = [each["model"] for each in record["runs"]]
    return [model if models.count(model) == 1 else f"{model}, {Path(each['run']).name if each['run'] else place}"
            for place, (model, each) in enumerate(zip(models, record["runs"]), 1)]


def heads(record: dict[str, Any]) -> Table:
    """A row for each head: how far back and how widely it looks."""
    table = Table(header_style="bold", box=None, pad_edge=False)
    for name in ("layer", "head", "mean distance", "bits", "perplexity"):
        table.add_column(name, justify="right")
    for each in record["maps"]:
        bits = each["entropy_bits"]
        table.add_row(str(each["layer"] + 1), str(each["head"] + 1), f"{each['distance']:.1f}", f"{bits:.2f}", f"{2 ** bits:.1f}")
    return table


def surprise_of_all(record: dict[str, Any]) -> str:
    whole = "impossible" if record["bits_per_character"] is None else f"{record['bits_per_character']:.3f} bits per character"
    return f"{record['model']}: {whole}, {len(record['tokens']):,} symbols"


def surprisals(record: dict[str, Any]) -> Group:
    """A row for each symbol."""
    table = Table(header_style="bold", box=None, pad_edge=False)
    for name, justify in (("symbol", "left"), ("bits", "right"), ("", "left")):
        table.add_column(name, justify=justify, no_wrap=True)
    most = max((row["bits"] for row in record["tokens"] if row["bits"] is not None), default=1.0) or 1.0
    for row in record["tokens"]:
        symbol = row["symbol"] if record["unit"] in ("word", "token") else repr(row["symbol"])
        table.add_row(Text(symbol, no_wrap=True, overflow="ellipsis"), "inf" if row["bits"] is None else f"{row['bits']:.2f}",
                      bar(1.0 if row["bits"] is None else row["bits"] / most, 24))
    return Group(Text(surprise_of_all(record), style="dim"), table)


def surprising_text(record: dict[str, Any]) -> Group:
    """The text itself, each symbol on a ground that is the stronger the more it surprised."""
    text, legend = Text(), Text("bits  ")
    for row in record["tokens"]:
        ends = record["by"] == "line" and row["symbol"] == "</s>"
        text.append("⏎" if ends or row["symbol"] == "\n" else visible(row["symbol"]), style(shade(row["bits"])))
        text.append("\n" if ends or row["symbol"] == "\n" else " " if record["unit"] in ("word", "token") else "")
    for number, (low, high) in enumerate(zip(("", *BITS), (*BITS, ""))):
        legend.append(f" {low}-{high} " if low and high else f" under {high} " if high else f" {low} or more ", style(number))
    return Group(Text(surprise_of_all(record), style="dim"), text, legend)


def visible(symbol: str) -> str:
    """A symbol as it can stand in a line: subwords show their blanks as Ġ, which we write as they are."""
    symbol = symbol.replace("Ġ", " ").replace("Ċ", "⏎")
    return "".join(letter if letter.isprintable() else "·" for letter in symbol)
