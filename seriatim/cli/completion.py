"""`seriatim completion bash|zsh|fish`: a script for the shell, made from the cards. It holds all names
itself, so that completing starts no Python.

    source <(seriatim completion bash)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any

from seriatim.audit.options import CheckOptions
from seriatim.cli.commands import (
    FORMAT,
    SUMMARIES,
    all_records,
    all_verbs,
    data_flags,
    ladder_flags,
    leaderboard_flags,
    verb_flags,
)
from seriatim.cli.drawing import picture_flags
from seriatim.cli.flags import Group, group_of
from seriatim.errors import ConfigError, nearest
from seriatim.fitting_options import CompareOptions, FitOptions
from seriatim.tasks import TASKS, tasks


@dataclass
class Names:
    """All that can be completed."""

    verbs: dict[str, str]  # and what they do
    models: dict[str, list[str]]  # by task
    flags: dict[str, list[str]] = field(default_factory=dict)  # by verb, or by verb and task
    choices: dict[str, list[str]] = field(default_factory=dict)  # by flag


def names() -> Names:
    """What the cards say."""
    verbs = {name: words.split("\n")[0] for name, words in SUMMARIES.items()}
    verbs |= {name: rooms[0].verbs[name].summary for name, rooms in all_verbs().items()}
    found = Names(dict(sorted(verbs.items())), {room.name: list(room.rungs) for room in tasks()})
    for verb, rooms in all_verbs().items():
        found.flags[verb] = spelled(verb_flags(verb, rooms))
    for room in tasks():
        shared = [group_of("", room.fitting), *data_flags(room), *ladder_flags(room, "")]
        for verb, cls in (("fit", FitOptions), ("compare", CompareOptions)):
            extra = ["--valid", "--test"] if verb == "compare" else ["--valid"]
            own = spelled([group_of("", cls), *shared]) + extra
            found.flags[f"{verb} {room.name}"] = sorted(set(own))
    rooms = list(tasks())
    pictures = {name: room for room in rooms for name in room.pictures}
    drawn = [room.verbs[each.verb] for room in rooms for each in room.pictures.values()]
    found.flags["plot"] = spelled(picture_flags(rooms, list(pictures), drawn))
    found.flags["check"] = spelled([group_of("", CheckOptions)])
    found.flags["leaderboard"] = spelled(leaderboard_flags([r for r in rooms if r.figures]))
    found.flags["models"] = ["--format", "--help", "--task"]
    found.choices = choices() | {"--format": ["json", "table"], "--task": list(TASKS)}
    found.choices["--what"] = sorted(pictures)
    return found


def spelled(groups: Iterable[Group]) -> list[str]:
    """The flags of some groups as they are typed."""
    flags = {flag.spelling for group in groups for flag in group.flags}
    return sorted(flags | {FORMAT.spelling, "--help"})


def choices() -> dict[str, list[str]]:
    """What may follow a flag, wherever it belongs."""
    found: dict[str, set[str]] = {}
    for each in (each for cls in all_records() for each in fields(cls)):
        some = {str(choice) for choice in each.metadata["choices"] or () if choice != ""}
        if some:
            found.setdefault("--" + each.name.replace("_", "-"), set()).update(some)
    return {flag: sorted(some) for flag, some in sorted(found.items())}


def completion(shell: str) -> str:
    """The script for a shell."""
    if shell not in SHELLS:
        raise ConfigError("there is no such shell here", got=shell, do=nearest(shell, SHELLS))
    return SHELLS[shell](names())


# -- shells
def cases(rows: dict[str, list[str]], target: str = "words") -> str:
    """The branches of a `case` of bash and zsh."""
    lines = (f"    '{key}') {target}='{' '.join(some)}' ;;" for key, some in rows.items() if some)
    return "\n".join(lines)


BASH = """# seriatim completion bash: source <(seriatim completion bash)
_seriatim() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" words=''
  local verb="${{COMP_WORDS[1]}}" task="${{COMP_WORDS[2]}}"
  case "$before" in
{choices}
  esac
  if [[ -z $words && $COMP_CWORD -eq 1 ]]; then
    words='{verbs}'
  elif [[ -z $words && $current == -* ]]; then
    case "$verb" in
      fit|compare) verb="$verb $task" ;;
    esac
    case "$verb" in
{flags}
    esac
  elif [[ -z $words && $COMP_CWORD -eq 2 ]]; then
    case "$verb" in
      fit|compare) words='{tasks}' ;;
      models) words='{all}' ;;
      completion) words='bash fish zsh' ;;
    esac
  elif [[ -z $words && $COMP_CWORD -eq 3 && $verb == fit ]]; then
    case "$task" in
{models}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _seriatim seriatim
"""

ZSH = """#compdef seriatim
# seriatim completion zsh: source <(seriatim completion zsh)
autoload -U +X bashcompinit && bashcompinit
"""


def bash(known: Names) -> str:
    """For bash."""
    everything = sorted({model for some in known.models.values() for model in some})
    return BASH.format(
        choices=cases(known.choices),
        verbs=" ".join(known.verbs),
        flags=cases(known.flags),
        tasks=" ".join(known.models),
        all=" ".join(everything),
        models=cases(known.models),
    )


def zsh(known: Names) -> str:
    """For zsh, which understands that of bash."""
    return ZSH + bash(known)


def fish(known: Names) -> str:
    """For fish."""
    return "\n".join(["# seriatim completion fish | source", *fish_lines(known)]) + "\n"


def fish_lines(known: Names) -> Iterator[str]:
    """A line for each thing to complete, under its condition."""
    first = "__fish_use_subcommand"
    for verb, words in known.verbs.items():
        yield line(n=first, f=True, a=verb, d=words.rstrip("."))
    tasks_of = "__fish_seen_subcommand_from fit compare; and test (count (commandline -opc)) -eq 2"
    yield line(n=tasks_of, f=True, a=" ".join(known.models))
    for task, models in known.models.items():
        seen = f"__fish_seen_subcommand_from fit; and __fish_seen_subcommand_from {task}"
        yield line(n=f"{seen}; and test (count (commandline -opc)) -eq 3", a=" ".join(models))
    for key, flags in known.flags.items():
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in key.split())
        for flag in flags:
            some = known.choices.get(flag)
            more: dict[str, Any] = {"x": True, "a": " ".join(some)} if some else {}
            yield line(n=seen, l=flag.removeprefix("--"), **more)


def line(**parts: Any) -> str:
    """A command `complete` of fish."""
    said = (
        f"-{key}" if value is True else f"-{key} {quoted(value)}" for key, value in parts.items()
    )
    return "complete -c seriatim " + " ".join(said)


def quoted(words: str) -> str:
    """Words in single quotes, as fish reads them."""
    return "'" + words.replace("\\", "\\\\").replace("'", "\\'") + "'"


SHELLS = {"bash": bash, "fish": fish, "zsh": zsh}
