"""What rooms with networks that read symbols have on their cards: the verb `embed`."""

from __future__ import annotations

from seriatim.tasks.base import Verb
from seriatim.tasks.base.options import EmbedOptions

SHOW = "seriatim.show.vectors:"


def embed_verb(example: str) -> Verb:
    """Contextual vectors of data."""
    return Verb(
        "A vector for each position in its context, or for each sequence their mean.",
        "embed",
        "vectors",
        options=EmbedOptions,
        table=SHOW + "vector_lines",
        rows=SHOW + "vector_rows",
        pieces=True,
        gaps=True,
        example=example,
    )
