"""What rooms with networks that read text have on their cards: the verb `units` and its picture."""

from __future__ import annotations

from seriatim.tasks.base import Picture, Verb
from seriatim.tasks.base.options import UnitOptions

SHOW = "seriatim.show.units:"

UNITS_PICTURES: dict[str, Picture] = {
    "units": Picture("units", SHOW + "units", "the text, coloured by what hidden units say of it")
}


def units_verb(example: str) -> Verb:
    """Hidden units along one text."""
    return Verb(
        "What hidden units say along a text, and which follow its quotes, brackets, lines or words.",
        "units",
        "units",
        reads="text",
        argument="text",
        options=UnitOptions,
        table=SHOW + "listed",
        example=example,
    )
