"""What `plot` may be asked for: which picture, of what, where to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seriatim.audit.options import CheckOptions
from seriatim.cli.flags import Flag, Group, merged
from seriatim.errors import ConfigError
from seriatim.tasks.base import Task, Verb


def files_of(words: list[str]) -> Any:
    """Files as data: one by its name, several as paths that belong together."""
    paths = [Path(word) for word in words]
    return None if not paths else paths[0] if len(paths) == 1 else paths


# -- fit and compare


def overview_of_pictures(rooms: list[Task]) -> str:
    """The pictures of some rooms, a line each."""
    from seriatim.plotting import COMMON, DATA

    rows = [
        f"  {name:12} {picture.summary} (models of {room.name})"
        for room in rooms
        for name, picture in room.pictures.items()
    ]
    return "\n".join(
        [
            "pictures:",
            *(f"  {name:12} {each.summary}" for name, each in (COMMON | DATA).items()),
            *rows,
            "",
            "example:",
            "  seriatim plot runs/book --out curve.png",
            "  seriatim plot runs/rnn runs/lstm --what gradient --file other.txt --out gradient.png",
        ]
    )


def picture_flags(rooms: list[Task], pictures: list[str], verbs: list[Verb]) -> list[Group]:
    """What a picture may be asked for: which, of what, where to; and all that its verb has."""
    from seriatim.plotting import COMMON, DATA

    flags = [
        Flag("what", "what to draw: " + ", ".join([*COMMON, *DATA, *pictures]), ""),
        Flag("file", "the data that the picture needs", None, many=True),
        Flag("text", "the same as a text", None),
        Flag(
            "out", "picture to write: .png, .svg, .pdf, .html, .json (default: in the folder)", ""
        ),
    ]
    names = dict.fromkeys(each.argument for each in verbs if each.reads == "text")
    flags += [Flag(name, "the text, by its name", None) for name in names if name != "text"]
    reading = [room.reading for room in rooms if room.pictures]
    return [
        Group("picture", flags),
        merged(
            "what the picture is of",
            ((each, {}) for each in (*(verb.options for verb in verbs), CheckOptions)),
        ),
        merged("data (default: as the fit read its own)", ((each, {}) for each in reading)),
    ]


def picture_data(verb: Verb | None, given: dict[str, Any]) -> Any:
    """The data of a picture, from --file, --text or the name of its text."""
    files, text = given.pop("file", None), given.pop("text", None)
    if verb is not None and verb.reads == "text" and text is None:
        text = given.pop(verb.argument, None)
    if files and text is not None:
        raise ConfigError(
            "a picture is of one text", got="--file and --text", do="Give one of them"
        )
    if files:
        return files_of(files)
    if text is None:
        return None
    return text if verb is not None and verb.reads == "text" else [text]
