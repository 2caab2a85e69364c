"""What rooms with networks that attend have on their cards: the verb `attention` and its pictures."""

from __future__ import annotations

from seriatim.tasks.base import Picture, Verb
from seriatim.tasks.base.options import AttentionOptions

SHOW = "seriatim.show.attention:"

ATTENTION_PICTURES: dict[str, Picture] = {
    "attention": Picture("attention", SHOW + "attention", "who attends to whom: all heads"),
    "head": Picture("attention", SHOW + "head", "one head of them, symbol by symbol"),
    "lines": Picture("attention", SHOW + "lines", "the same head as lines between symbols"),
}


def attention_verb(example: str, reads: str = "data", fields: bool = False) -> Verb:
    """Who attends to whom, of data or of one text, with what stands beside it perhaps."""
    return Verb(
        "Who attends to whom: a map for each head.",
        "attention",
        "attention",
        reads=reads,
        options=AttentionOptions,
        table=SHOW + "heads",
        argument="text" if reads == "text" else "",
        fields=fields,
        example=example,
    )
