"""Records of language models as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from seriatim.records import Record, array_of
from seriatim.show.tables import (
    BITS,
    ORDERS,
    add_against,
    add_protocol,
    bar,
    output,
    shade,
    short,
    side,
    sparkline,
    style,
    visible,
)


def figures(record: dict[str, Any]) -> Table:
    """An evaluation as two columns: name and value, with the protocol below."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    low, high = record["interval"]["bits_per_character"]
    bounds = "" if low is None else f"   (95 % interval {low:.4f} to {high:.4f})"
    for name in ("bits_per_character", "nats_per_token", "perplexity"):
        value = record[name]
        words = (
            f"infinite: {record['impossible']} symbols have probability 0"
            if value is None
            else f"{value:.4f}"
        )
        table.add_row(
            name.replace("_", " "),
            words + (bounds if name == "bits_per_character" and value is not None else ""),
        )
    table.add_row(
        "tokens",
        f"{record['tokens']:,}, {record['unknown']:,} unknown, in {record['sequences']:,} sequence{'s' * (record['sequences'] != 1)}",
    )
    table.add_row("speed", f"{record['symbols_per_second']:,.0f} tokens/s")
    if record["excess_bits"] is not None:
        table.add_row(
            "source",
            f"true entropy {record['entropy_bits']:.4f} bits per token; this model is {record['excess_bits']:+.4f} away",
        )
    add_against(table, record)
    add_protocol(table, record)
    return table


def stacked(row: dict[str, Any], share: float, cells: int = 16) -> Text:
    """A bar whose colours tell how much the n-grams of each length contributed."""
    text, begin, total = (
        Text(bar(share, cells), no_wrap=True),
        0.0,
        row["orders"][0]["probability"] or 1.0,
    )
    for each, colour in zip(row["orders"], (*ORDERS, *ORDERS[-1:] * len(row["orders"]))):
        end = begin + each["contribution"] / total
        text.stylize(colour, round(begin * len(text.plain)), round(end * len(text.plain)))
        begin = end
    return text


def back_off(orders: list[dict[str, Any]]) -> list[str]:
    """How a probability came about: order by order what the n-gram kept, and what it borrowed from the shorter one."""
    words: list[str] = []
    left = orders[0]["probability"]
    for each, shorter in zip(orders, [*orders[1:], None]):
        if words and left < 0.02 * orders[0]["probability"]:  # the rest hardly matters
            break
        kept, lower = (
            f"{each['share']:.3g} + " if each["share"] else "",
            0.0 if shorter is None else shorter["probability"],
        )
        if each["lent"] is None and each["count"] is not None:
            words.append(
                f"{each['probability']:.3g} ({each['count']:,} of {each['context_count']:,})"
            )
        elif each["lent"] is None or shorter is None:
            words.append(f"{each['probability']:.3g}")
        else:
            words.append(f"{each['probability']:.3g} = {kept}{each['lent']:.2g} × {lower:.3g}")
        left = 0.0 if each["lent"] is None else left - each["contribution"]
    return words


def back_offs(rows: list[dict[str, Any]]) -> list[Text]:
    """The same for every row, one order below the other, in the colours of the bars."""
    told = [back_off(row["orders"]) for row in rows]
    widths = [
        max(len(words[place]) for words in told if len(words) > place)
        for place in range(max(map(len, told), default=0))
    ]
    texts = []
    for row, words in zip(rows, told):
        texts.append(Text(no_wrap=True, overflow="ellipsis"))
        for place, (each, some, width) in enumerate(zip(row["orders"], words, widths)):
            texts[-1].append(f"{each['order']}: ", ORDERS[min(place, len(ORDERS) - 1)]).append(
                some.ljust(width + 3)
            )
        texts[-1].rstrip()
    return texts


BACK_OFF = (
    "back-off n: probability = kept by the n-gram + lent by its context × probability after a "
    "shorter one"
)


BEFORE = (
    "before: how many different symbols stood before it; of n-grams that are not the longest, "
    "Kneser-Ney uses that instead of the count"
)


def continuations(record: dict[str, Any]) -> Group:
    """What stands at the * of a pattern, likeliest first; or the symbols of a phrase in order."""
    rows = record["rows"]
    about = f"   {record['model']}, n-grams up to {record['longest']}, by {record['unit']}"
    title = Text.assemble((record["pattern"], "bold"), (about, "dim"))
    lines = [whole_phrase(record)] if record["shape"] == "phrase" else []
    lines += [BACK_OFF] if any(row["orders"][0]["lent"] for row in rows) else []
    lines += [BEFORE] if counts_before(record) else []
    table = Table(header_style="bold", box=None, pad_edge=False)
    for name, justify in continuation_columns(record):
        table.add_column(name, justify=side(justify), no_wrap=name != "back-off")
    most = max((row["probability"] for row in rows), default=1.0) or 1.0
    for row, told in zip(rows, back_offs(rows)):
        figures = continuation_figures(row, record)
        table.add_row(*figures, stacked(row, row["probability"] / most), told)
    return Group(title, table, *([Text("\n".join(lines), style="dim")] if lines else []))


def whole_phrase(record: dict[str, Any]) -> str:
    """How often the phrase was counted, and how likely it is."""
    count = "not counted" if record["count"] is None else f"{record['count']:,} times"
    return f"the whole: {count}, log p {log_p(record['log_prob'])}"


def log_p(value: float | None) -> str:
    """A log-probability; of what is impossible minus infinity."""
    return "-inf" if value is None else f"{value:.4f}"


def continuation_columns(record: dict[str, Any]) -> list[tuple[str, str]]:
    """The columns: of a phrase, of a gap between two texts, or of what follows one."""
    middle = {
        "phrase": [("log p", "right"), ("probability", "right")],
        "gap": [("joint", "right"), ("both sides", "right")],
    }.get(record["shape"], [("probability", "right")])
    first = [("symbol", "left"), ("count", "right"), *[("before", "right")] * counts_before(record)]
    return [*first, *middle, ("", "left"), ("back-off", "left")]


def counts_before(record: dict[str, Any]) -> bool:
    """Whether something else than the count decides in any row."""
    return any(row["different_before"] is not None for row in record["rows"])


def continuation_figures(row: dict[str, Any], record: dict[str, Any]) -> list[Any]:
    """The symbol, how often it was counted, and its probabilities."""
    symbol = row["symbol"] if record["unit"] in ("word", "token") else repr(row["symbol"])
    count = "" if row["count"] is None else f"{row['count']:,}"
    cells: list[Any] = [Text(symbol, no_wrap=True, overflow="ellipsis"), count]
    if counts_before(record):
        before = row["different_before"]
        cells.append("" if before is None else "255+" if before == 255 else f"{before:,}")
    if record["shape"] == "gap":
        return [*cells, f"{row['probability']:.2e}", f"{row['posterior']:.4f}"]
    cells += [log_p(row["log_prob"])] if record["shape"] == "phrase" else []
    return [*cells, f"{row['probability']:.4f}"]


MOST_PERIODS = 60  # rows of the table of periods; with more, the lines above it tell enough


def frequencies(record: dict[str, Any]) -> Group:
    """A line for each phrase with its course, and a row for each period."""
    smooth = f", mean of {2 * record['smooth'] + 1} in the lines below" if record["smooth"] else ""
    about = f"   per million {record['unit']}s, each {record['every']}{smooth}"
    title = Text.assemble((Path(record["data"]).name, "bold"), (about, "dim"))
    if len(record["periods"]) > MOST_PERIODS:
        return Group(title, courses(record))
    return Group(title, courses(record), Text(), by_period(record))


def courses(record: dict[str, Any]) -> Table:
    """A line for each phrase."""
    periods = record["periods"]
    table = Table(header_style="bold", box=None, pad_edge=False)
    span = f"{periods[0]} to {periods[-1]}"
    for name in ("phrase", "count", "highest", "in", span):
        kind = side("right" if name in ("count", "highest") else "left")
        table.add_column(name, justify=kind, no_wrap=True)
    for each in record["phrases"]:
        known = [(value, -i) for i, value in enumerate(each["smoothed"]) if value is not None]
        highest, place = max(known)
        table.add_row(
            Text(each["phrase"]),
            f"{each['count']:,}",
            f"{highest:,.1f}",
            periods[-place] if each["count"] else "",
            Text(sparkline(each["smoothed"]), style=ORDERS[0]),
        )
    return table


def by_period(record: dict[str, Any]) -> Table:
    """A row for each period."""
    phrases = record["phrases"]
    table = Table(header_style="bold", box=None, pad_edge=False)
    table.add_column(record["every"], style="dim")
    table.add_column(record["unit"] + "s", justify="right", style="dim")
    for each in phrases:
        table.add_column(Text(each["phrase"]), justify="right", no_wrap=True)
        table.add_column("", no_wrap=True)
    most = [max(filter(None, each["frequency"]), default=1.0) for each in phrases]
    for p, (name, tokens) in enumerate(zip(record["periods"], record["tokens"])):
        cells: list[Any] = []
        for each, top in zip(phrases, most):
            value = each["frequency"][p]
            cells += ["", ""] if value is None else [f"{value:,.1f}", course_bar(value / top)]
        table.add_row(name, short(tokens) if tokens else "-", *cells)
    return table


def course_bar(share: float) -> Text:
    """A small bar."""
    return Text(bar(share, 12), style=ORDERS[0])


def inside(record: dict[str, Any]) -> Table | Group:
    """What happens inside: by distance, or symbol by symbol."""
    if record["kind"] != "surprisal":
        return by_distance(record)
    coloured = output().color_system is not None and not output().no_color
    return surprising_text(record) if coloured else surprisals(record)


def by_distance(record: dict[str, Any]) -> Group:
    """Gradient or influence: a row for each run, a column for each of a few distances."""
    slopes = record["kind"] == "gradient"
    longest = max(len(each["values"]) for each in record["runs"])
    shown = [2**i for i in range(longest.bit_length())]
    table = Table(header_style="bold", box=None, pad_edge=False)
    for name in ("model", *map(str, shown), *(["a place", "spectral radius"] if slopes else [])):
        table.add_column(
            name,
            justify="left" if name in ("model", "spectral radius") else "right",
            no_wrap=name != "spectral radius",
        )
    for each, name in zip(record["runs"], run_names(record)):
        row = [value_at(each["values"], distance) for distance in shown]
        table.add_row(Text(name), *row, *(slope_of(each) if slopes else []))
    title = (
        "norm of the gradient of the loss with respect to the symbol so many places back"
        if slopes
        else "change of the prediction, in nats, when the symbol so many places back is replaced"
    )
    parts: list[Any] = [Text(title, style="dim"), table]
    if slopes and any(len(each["by_layer"]) > 2 for each in record["runs"]):
        parts += [Text("with respect to all outputs of a layer", style="dim"), by_layer(record)]
    return Group(*parts)


def value_at(values: list[float | None], distance: int) -> str:
    """The value so many places back, where a run reaches so far; what has no end is null."""
    if distance > len(values):
        return ""
    value = values[distance - 1]
    return "inf" if value is None else f"{value:.2g}"


def slope_of(run: dict[str, Any]) -> list[str]:
    """By what a gradient changes a place, and the spectral radius of each matrix."""
    several = len({radius["layer"] for radius in run["radii"]}) > 1
    radii = [
        f"{radius['layer'] + 1}: " * several + f"{radius['matrix']} {radius['radius']:.2f}"
        for radius in run["radii"]
    ]
    return ["" if run["factor"] is None else f"×{run['factor']:.2f}", ", ".join(radii)]


def positions(record: dict[str, Any]) -> Group:
    """The first few features of each position."""
    vectors = array_of(record["vectors"])
    table = Table(header_style="bold", box=None, pad_edge=False)
    for name in ("position", *map(str, range(1, min(8, vectors.shape[1]) + 1))):
        table.add_column(name, justify="right", no_wrap=True)
    for place, row in enumerate(vectors):
        table.add_row(str(place), *(f"{value:.2f}" for value in row[:8]))
    title = f"{record['model']}: {record['positions']} positions, {vectors.shape[1]} features"
    return Group(Text(title, style="dim"), table)


def by_layer(record: dict[str, Any]) -> Table:
    """The gradient over depth: a row for each run, a column for the embedding and each layer."""
    table = Table(header_style="bold", box=None, pad_edge=False)
    deepest = max(len(each["by_layer"]) for each in record["runs"])
    for place, name in enumerate(("model", "embedding", *map(str, range(1, deepest)))):
        table.add_column(name, justify="right" if place else "left", no_wrap=True)
    for each, name in zip(record["runs"], run_names(record)):
        found = ["" if value is None else f"{value:.2g}" for value in each["by_layer"]]
        table.add_row(Text(name), *found)
    return table


def run_names(record: dict[str, Any]) -> list[str]:
    """Names of the runs: of their models, with the folder where models are the same."""
    models = [each["model"] for each in record["runs"]]
    return [
        model
        if models.count(model) == 1
        else f"{model}, {Path(each['run']).name if each['run'] else place}"
        for place, (model, each) in enumerate(zip(models, record["runs"]), 1)
    ]


def gates(record: Record) -> Group:
    """A row for each gate: how far it stands open, how many units nearly not and nearly wholly, and
    its course along the text."""
    table = Table(header_style="bold", box=None, pad_edge=False)
    for name in ("layer", "gate", "units", "mean", "< 0.1", "> 0.9", "along the text"):
        kind = side("left" if name in ("gate", "along the text") else "right")
        table.add_column(name, justify=kind, no_wrap=True)
    for each in record["items"]:
        shares = [f"{100 * each[key]:.1f} %" for key in ("closed", "open")]
        about = [str(each["layer"]), each["gate"], str(each["units"]), f"{each['mean']:.2f}"]
        table.add_row(*about, *shares, Text(sparkline(each["by_symbol"]["mean"], zero=False)))
    words = f"{record['model']}: gates over {len(record['symbols']):,} symbols; 0 closed, 1 open"
    return Group(Text(words, style="dim"), table)


def surprise_of_all(record: dict[str, Any]) -> str:
    """Whose surprise it is, and how much in all."""
    many = f"{len(record['tokens']):,} symbols"
    if record["bits_per_character"] is None:
        return f"{record['model']}: impossible, {many}"
    beside = f", {record['side_bits']:.1f} of them beside the symbols"
    return (
        f"{record['model']}: {record['bits_per_character']:.3f} bits per character, "
        f"{record['bits']:.1f} for {many}{beside if record['side_bits'] else ''}"
    )


def surprisals(record: dict[str, Any]) -> Group:
    """A row for each symbol."""
    table = Table(header_style="bold", box=None, pad_edge=False)
    for name, justify in (("symbol", "left"), ("bits", "right"), ("", "left")):
        table.add_column(name, justify=side(justify), no_wrap=True)
    most = (
        max((row["bits"] for row in record["tokens"] if row["bits"] is not None), default=1.0)
        or 1.0
    )
    for row in record["tokens"]:
        symbol = row["symbol"] if record["unit"] in ("word", "token") else repr(row["symbol"])
        table.add_row(
            Text(symbol, no_wrap=True, overflow="ellipsis"),
            "inf" if row["bits"] is None else f"{row['bits']:.2f}",
            bar(1.0 if row["bits"] is None else row["bits"] / most, 24),
        )
    return Group(Text(surprise_of_all(record), style="dim"), table)


def surprising_text(record: dict[str, Any]) -> Group:
    """The text itself, each symbol on a ground that is the stronger the more it surprised."""
    text, legend = Text(), Text("bits  ")
    for row in record["tokens"]:
        ends = record["by"] == "line" and row["symbol"] == "</s>"
        text.append("⏎" if ends else visible(row["symbol"]), style(shade(row["bits"])))
        if ends or row["symbol"].endswith("\n"):
            text.append("\n")
        elif record["unit"] in ("word", "token"):
            text.append(" ")
    for number, (low, high) in enumerate(zip(("", *BITS), (*BITS, ""))):
        legend.append(
            f" {low}-{high} "
            if low and high
            else f" under {high} "
            if high
            else f" {low} or more ",
            style(number),
        )
    return Group(Text(surprise_of_all(record), style="dim"), text, legend)


def exported(record: Record) -> str:
    """What was written for other programs."""
    if "ngrams" in record:
        words = f"{sum(record['ngrams']):,} n-grams up to length {len(record['ngrams'])}"
    else:
        words = f"a GPT-2 with {record['parameters']:,} parameters"
    return f"{record['out']}: {words}"


def compressed(record: Record) -> str:
    """How small a text has become, beside the size that its score promises."""
    scored = record["bits_per_character_scored"]
    expected = "impossible" if scored is None else f"{scored:.4f}"
    return (
        f"{record['out']}: {record['bytes']:,} bytes of {record['original_bytes']:,}, "
        f"{record['ratio']:.2f} times smaller\n"
        f"{record['bits_per_character']:.4f} bits per character with a header of "
        f"{record['header_bytes']} bytes; evaluate says {expected}"
    )


def restored(record: Record) -> str:
    """What came back."""
    return f"{record['out']}: {record['bytes']:,} bytes, as they were"
