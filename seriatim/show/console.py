"""Rich's console, for data that nobody vouches for: no text is markup, none is obeyed by a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from seriatim.show.letters import harmless


class CarefulConsole(Console):
    """A label called [/red] is that label; an escape sequence in it is shown by its numbers where
    there is a terminal."""

    def __init__(self, **settings: Any):
        super().__init__(markup=False, emoji=False, **settings)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """What is printed, piece by piece; what rich itself tells the terminal is marked as such."""
        pieces = super().render(renderable, options)
        if not self.is_terminal:
            return pieces
        return (
            each if each.control else Segment(harmless(each.text), each.style) for each in pieces
        )
