"""What counts as one symbol of texts where nobody said it: what the texts themselves call for.

    texts without blanks    characters: names, spellings, words, sums, dates

A single word that is read as a whole is a name among thousands: of one that was never seen nothing
is known, though it may be spelled as others are.
"""

from __future__ import annotations

from seriatim.data.sequences import Field

LOOKED = 10_000  # sequences that are looked at, evenly spread
BLANKED = 0.05  # a column in which fewer have a blank has single words


def said(unit: str, why: str) -> str:
    """One line: what was assumed, and how to say otherwise."""
    return f"unit: {unit}, since {why}; --unit says otherwise"


def some(column: Field) -> list[str]:
    """Some texts of a column, evenly spread."""
    step = -(-len(column) // LOOKED)
    return [str(column.raw(s)).strip() for s in range(0, len(column), max(1, step))]


def words_alone(column: Field) -> bool:
    """Whether texts are single words, but for a few."""
    texts = some(column)
    return any(texts) and one_word_each(texts)


def one_word_each(texts: list[str]) -> bool:
    """Whether texts have no blank inside, but for a few."""
    blanked = sum(len(text.split(None, 1)) > 1 for text in texts)
    return blanked <= BLANKED * len(texts)
