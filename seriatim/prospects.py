"""What more data and more time would change, in sentences that say no more than was shown.

Of a rung that is not shown to be better than the floor nothing is said; a rung is ahead of another only
if their predicted intervals lie apart; a crossing is told of two rungs only that are told apart on all
of the data.
"""

from __future__ import annotations

from typing import Any

from seriatim.records import Record
from seriatim.tasks.base import Figure, Task

CLAIMED = 0.8  # of draws, from which on it is said who would take the lead


def more_time(good: list[dict[str, Any]], figure: Figure, margin: float) -> str:
    """What twice the time would change, where short fits tell: who would overtake the best, which
    has twice the time as well, or that nobody would gain much."""
    networks = [row for row in good if row.get("course") and not row.get("weights")]
    known = [row for row in networks if row["course"]["predicted"]]
    moving = [row for row in known if row["unfinished"]]
    if not known or (not moving and len(known) < len(networks)):
        return ""
    if not moving:
        return (
            " More time would change little: the last doubling of it gained no network more than "
            f"{100 * margin:g} %."
        )
    best = good[0]
    rival = figure.signed(predicted(best)["value"] if best in known else best[figure.key])
    said: dict[str, list[str]] = {}
    for row in moving:
        then = predicted(row)
        ends = " to ".join(figure.write(then[key]) for key in ("low", "high"))
        words = "it is the best already"
        if row is not best:
            words = f"that {overtaking(then, rival, figure)} {best['model']}"
        told = f"{row['model']} to about {figure.write(then['value'])} ({ends})"
        said.setdefault(words, []).append(told)
    several = "; ".join(f"{', '.join(told)}: {words}" for words, told in said.items())
    return f" Twice the time would bring {several}."


def overtaking(then: dict[str, float], rival: float, figure: Figure) -> str:
    """How likely what is predicted overtakes a rival."""
    low, middle, high = sorted(figure.signed(then[key]) for key in ("low", "value", "high"))
    if middle < rival:
        return "would overtake" if high < rival else "would probably overtake"
    return "may overtake" if low < rival else "would not overtake"


def predicted(row: dict[str, Any], times: int = 2) -> dict[str, float]:
    """What so many times the time would give."""
    return next(each for each in row["course"]["predicted"] if each["times"] == times)


def more_data(
    curve: Record | None, rows: list[dict[str, Any]], figure: Figure, floor: str = ""
) -> str:
    """What more data would change: who would take the lead, or what the best would reach; nothing
    where the best is not shown to be better than the floor."""
    if not curve:
        return ""
    if rows[0].get("above_floor") is False or rows[0]["model"] == floor:
        return (
            f" No rung is shown to be better than {floor}, the floor, so nothing is said of more data."
            if not any(row.get("above_floor") for row in rows)
            else f" {rows[0]['model']} is not shown to be better than {floor}, the floor, so nothing "
            "is said of more data."
        )
    above = {row["model"] for row in rows if row.get("above_floor") is not False}
    ahead = [
        each
        for each in curve["crossings"]
        if each["lead"] and each["told"] and each["second"] in above
        if each["sure"] >= CLAIMED and each["at"] > curve["sizes"][-1]
    ]
    if ahead:
        words = ahead[0]["words"]
        return f" More data might change that: {words}."
    laws = {each["model"]: each["predicted"][-1] for each in curve["rungs"] if each["predicted"]}
    best = rows[0]["model"]
    if best not in laws:
        return ""
    value, low, high = (figure.write(laws[best][key]) for key in ("value", "low", "high"))
    behind = [name for name in laws if name != best and apart_from(laws[best], laws[name], figure)]
    return (
        f" With {laws[best]['times']} times the data {best} would have about {value} "
        f"(80 %: {low} to {high}){', still ahead of ' + ', '.join(behind) if behind else ''}."
    )


def apart_from(ahead: dict[str, float], behind: dict[str, float], figure: Figure) -> bool:
    """Whether one prediction, with its whole interval, is better than another with its own."""
    worst = max(figure.signed(ahead[key]) for key in ("low", "high"))
    return worst < min(figure.signed(behind[key]) for key in ("low", "high"))


def curve_notes(record: Record, room: Task) -> list[str]:
    """What the curve against data says, under the table, of rungs that are shown to be better than
    the floor: what they would reach with more of it, where the lead changes among such as are told
    apart; and who has no law."""
    curve, figure = record.get("curve"), room.figure(record["figure"])
    if not curve:
        return []
    notes = []
    unshown = {row["model"] for row in record["rows"] if row.get("above_floor") is False}
    if any(row.get("above_floor") is not None for row in record["rows"]):
        unshown.add(room.floor)
    for each in [rung for rung in curve["rungs"] if rung["predicted"]]:
        several = [
            f"x {told['times']}: {figure.write(told['value'])} "
            f"({figure.write(told['low'])}-{figure.write(told['high'])})"
            for told in each["predicted"]
        ]
        if each["model"] not in unshown:
            notes.append(f"{each['model']} with more data, 80 %: {', '.join(several)}")
    notes += [
        each["words"]
        for each in curve["crossings"]
        if each["lead"] and each["told"] and each["second"] not in unshown
    ]
    notes += [f"{each['model']}: {each['why']}" for each in curve["rungs"] if each["why"]]
    return notes
