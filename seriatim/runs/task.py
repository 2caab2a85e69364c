"""Of which task a run is: all that help needs to know of it. Nothing here imports torch or numpy."""

from __future__ import annotations

from pathlib import Path

from seriatim.errors import ConfigError
from seriatim.settings import from_toml


def task_of(folder: str | Path) -> str | None:
    """The name of the task of a run, if its folder tells; nothing of it is opened."""
    try:
        settings = from_toml(Path(folder, "config.toml").read_text("utf-8", "replace"), str(folder))
    except (OSError, ConfigError, ValueError):
        return None
    run = settings.get("run")
    name = run.get("task") if isinstance(run, dict) else None
    return name if isinstance(name, str) else None
