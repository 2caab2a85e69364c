"""The verdict of a comparison in sentences: who predicts best, against whom that was shown, on what it
rests, and what is no verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seriatim.measuring.fingerprint import TEST, caution
from seriatim.measuring.judging import FEW_ITEMS
from seriatim.prospects import more_time
from seriatim.tasks.base import Figure

CONTRADICTS = "chosen on validation data, and the test contradicts"
MUCH_SEEN = 0.05  # of the test, from which on the verdict says that training had it


def verdict(
    rows: list[dict[str, Any]],
    figure: Figure,
    items: int,
    chosen_on: str | None = None,
    margin: float = 0.0,
    floor: str = "",
    validated: int = 0,
    references: Sequence[dict[str, Any]] = (),
    equals: str = "",
    ties: Figure | None = None,
    margin_of: str = "",
    measured_in: str = "items",
) -> str:
    """What the table says, in plain sentences; a rung that is unfinished is no rung that lost, and
    what rests on a few items is no verdict. Networks that are a counting rung alone count once."""
    good = [row for row in rows if row["status"] == "ok" and row[figure.key] is not None]
    good, alone = once(good)
    if not good:
        measured = any(row["status"] == "ok" for row in rows)
        no_figure = f"No model has a {figure.title} on this data: it is impossible here. Nothing tells them apart."
        return no_figure if measured else "No model could be measured."
    best = good[0]
    level = [
        row["model"]
        for row in good[1:]
        if figure.write(row[figure.key]) == figure.write(best[figure.key])
    ]
    if (
        figure.higher
        and figure.most is not None
        and best[figure.key] == max(row[figure.key] for row in good) == 0
    ):
        return nothing_right(good, figure, ties) + missing_of(rows)
    words = first_words(good, figure, items, level, floor, measured_in)
    if chosen_on == "validation":
        on = f" ({counted(validated, measured_in)})" if validated else ""
        words += (
            f" It was chosen on the validation data{on}{equals}; all figures are those of the test."
        )
    elif equals:
        words += f" It was chosen{equals.removeprefix(',')}."
    words += much_seen(good)
    told = [name for name in level if name in words]
    told += [floor] if CONTRADICTS in words else []
    words += told_apart(good, margin, told, margin_of) + not_above(good, floor, items)
    words += less_sure(good, floor, ties) + alone_in_words(alone)
    words += beyond_all(best, figure, references)
    words += unfinished_of(good, figure) + more_time(good, figure, margin)
    return words + missing_of(rows)


def nothing_right(good: list[dict[str, Any]], figure: Figure, ties: Figure | None) -> str:
    """What to say where every model was wrong of every item."""
    models = "both models" if len(good) == 2 else f"all {len(good)} models"
    who = f"{good[0]['model']} is the only model, and it" if len(good) == 1 else f"{models} have"
    said = f"None got a single one right: {who} {'has ' * (len(good) == 1)}"
    said += f"{figure.write(0.0)} {figure.words or figure.title}."
    if len(good) > 1 and ties is not None:
        said += f" They are ordered by {ties.title}."
    return f"{said} None is recommended."


def counted(number: int, measured_in: str) -> str:
    """So many items, or blocks."""
    one = measured_in.replace("items", "item").replace("blocks", "block")
    return f"{number:,} {one if number == 1 else measured_in}"


def once(good: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows, and apart from them networks that are a counting rung of the table alone, or the
    winner's twins."""
    kept: list[dict[str, Any]] = []
    alone: list[dict[str, Any]] = []
    for row in good:
        names = {each["model"] for each in good if not each.get("beside_alone")}
        names |= {each["beside"] for each in kept if each.get("beside_alone")}
        twin = row.get("beside_alone") and row["beside"] in names and kept
        (alone if twin else kept).append(row)
    return kept, alone


def alone_in_words(alone: list[dict[str, Any]]) -> str:
    """Which networks are a counting rung alone, and no models of their own."""
    networks: dict[str, list[str]] = {}
    for row in alone:
        networks.setdefault(row["beside"], []).append(row["model"])
    return "".join(
        f" {', '.join(several)}: {name} alone, the same model, counted once."
        for name, several in networks.items()
    )


def less_sure(good: list[dict[str, Any]], floor: str, ties: Figure | None) -> str:
    """What to say where the best is less sure of the truth than the rung that looks at nothing."""
    found = next((row for row in good[1:] if row["model"] == floor), None)
    if found is None or ties is None:
        return ""
    mine, least = (row.get(ties.key) for row in (good[0], found))
    if least is None or ties.signed(mine) <= ties.signed(least):
        return ""
    against = f"{ties.write(mine)} against {ties.write(least)}"
    return f" Its {ties.title} is worse than that of {floor}, the floor ({against})."


def equals_in_words(equals: Sequence[str], by: str) -> str:
    """That the winner was chosen among equals, and by what."""
    return f", tied there with {', '.join(equals)}, and {by} decided" if equals else ""


def first_words(
    good: list[dict[str, Any]],
    figure: Figure,
    items: int,
    level: list[str],
    floor: str = "",
    measured_in: str = "items",
) -> str:
    """Who comes first, with what, and how sure that is."""
    best, others = good[0], [row for row in good[1:] if not row.get("weights")]
    value = f"{figure.write(best[figure.key])} {figure.words or figure.title}"
    after = "" if best["seconds"] is None else f" after {best['seconds']:.1f} s of fitting"
    told = f"{value}{after}."
    name = best["model"] + (", unfinished," if best.get("unfinished") else "")
    ahead = figure.signed(best[figure.key]) <= min(figure.signed(row[figure.key]) for row in good)
    if items < FEW_ITEMS:
        much = f"{items}" if measured_in == "items" else counted(items, measured_in)
        return f"Too little test data for a verdict ({much}): {name} comes first with {told}"
    if len(good) == 1:
        return f"{name} is the only model with a figure: {told}"
    if level and len(level) == len(good) - 1:
        apart = "This test does not tell them apart."
        return f"All {len(good)} models have the same figure: {told} {apart}"
    worse = [row for row in good[1:] if (row.get("against") or {}).get("word") == "worse"]
    if found := next((row for row in worse if row["model"] == floor), None):
        than = f"{figure.write(found[figure.key])} against {value}"
        return f"{name} was {CONTRADICTS}: {floor}, the floor, is better there ({than})."
    if worse:
        return f"{name} was ahead on the validation data, and the test contradicts that: {told}"
    if best.get("unfinished"):
        where = "is ahead so far" if ahead else "was ahead on the validation data so far"
        return f"{name} {where}: {told}"
    if others and all(row.get("unfinished") for row in others):
        return f"{name} is ahead so far, and no other model is finished: {told}"
    if level:
        return f"{name} comes first, level with {', '.join(level)}: {told}"
    if any(row["tied"] and not row.get("unfinished") for row in good[1:]):
        return f"{name} comes first, and others may be as good: {told}"
    return f"{name} predicts this data best: {told}"


def not_above(good: list[dict[str, Any]], floor: str, items: int) -> str:
    """What to say where nothing is shown to be better than the rung that looks at nothing."""
    best, finished = good[0], [row for row in good if not row.get("unfinished")]
    found = next((row for row in good if row["model"] == floor), None)
    if found is None or len(finished) < 2 or items < FEW_ITEMS:
        return ""
    if found is best:
        worse = any((row.get("against") or {}).get("word") == "worse" for row in good)
        return "" if worse else f" {floor} is the floor: nothing here has found more to go by."
    word = (found.get("against") or {}).get("word")
    if word is not None and word not in ("better", "worse"):
        return f" Nothing here is shown to be better than {floor}, the floor."
    return ""


def beyond_all(best: dict[str, Any], figure: Figure, references: Sequence[dict[str, Any]]) -> str:
    """What to say where something from outside the ladder does better than all that was fitted."""
    known = [each for each in references if each["value"] is not None]
    better = [
        each for each in known if figure.signed(each["value"]) < figure.signed(best[figure.key])
    ]
    if not better:
        return ""
    names = ", ".join(f"{each['name']} ({figure.write(each['value'])})" for each in better)
    return f" Better than any model here: {names}."


def much_seen(good: list[dict[str, Any]]) -> str:
    """What to say where training had much of the test."""
    share, of = seen_of_test(good)
    if share is None or share < MUCH_SEEN:
        return ""
    (words,) = caution(share, of)
    return f" {words[0].upper()}{words[1:]}."


def told_apart(
    good: list[dict[str, Any]], margin: float, level: list[str], margin_of: str = ""
) -> str:
    """Which models the best one is shown to be better than, which are as good but for a margin, and
    which cannot be told from it, beside those that are level with it: a larger test might."""
    words: dict[str, list[str]] = {}
    for row in good[1:]:
        if row.get("against") and not row.get("unfinished"):
            words.setdefault(row["against"]["word"], []).append(row["model"])
    said = ""
    if better := words.get("better"):
        others = "all finished others" if len(better) == len(good) - 1 > 2 else ", ".join(better)
        said += f" It is better than {others}."
    if equal := words.get("equivalent"):
        of = f" of what {margin_of} leaves to be gained" if margin_of else ""
        said += f" Equivalent, within {100 * margin:g} %{of}: {', '.join(equal)}."
    if undecided := [name for name in words.get("undecided", ()) if name not in level]:
        said += f" Undecided on this test, a larger one might tell: {', '.join(undecided)}."
    if worse := [name for name in words.get("worse", ()) if name not in level]:
        said += f" On the test it is worse than {', '.join(worse)}."
    return said


def unfinished_of(good: list[dict[str, Any]], figure: Figure) -> str:
    """Which figures are no verdict yet, and what would change them."""
    words = ""
    unfinished = [row for row in good if row.get("unfinished")]
    if unfinished:
        fewest = min(unfinished, key=lambda row: row["updates"])
        several = f"{fewest['updates']:,} update{'s' * (fewest['updates'] != 1)}"
        names = ", ".join(row["model"] for row in unfinished)
        limits = dict.fromkeys(row.get("stopped") or "minutes" for row in unfinished)
        more = " or ".join(f"--{limit}" for limit in limits if limit != "interrupted")
        words += (
            f" Unfinished, so that their figures are no verdict: {names} "
            f"({fewest['model']} made {several}); more {more or '--minutes'} would tell."
        )
    improving = [
        row["model"]
        for row in good
        if row.get("improving") and row not in unfinished and row[figure.key] != figure.most
    ]
    if improving:
        words += f" Still improving when they ended: {', '.join(improving)}."
    return words


def missing_of(rows: list[dict[str, Any]]) -> str:
    """Which models have no figure."""
    missing = [f"{row['model']} ({row['status']})" for row in rows if row["status"] != "ok"]
    return f" Without a figure: {', '.join(missing)}." if missing else ""


def seen_of_test(rows: Sequence[dict[str, Any]]) -> tuple[float | None, str]:
    """The share of the test that training had, the most of any model's; and of what it is one."""
    protocols = [row.get("protocol") or {} for row in rows]
    shares = [each.get("seen_in_training") for each in protocols]
    of = next((each["seen_of"] for each in protocols if each.get("seen_of")), TEST)
    return max((share for share in shares if share is not None), default=None), of
