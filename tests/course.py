"""The course of docs/course/, typed as a student types it: does each page show what is printed?

    python -m tests.course [PAGE ...]            what differs
    python -m tests.course --write [PAGE ...]    write what is printed where the page shows another
    python -m tests.course --fill [PAGE ...]     the same, and where a command shows nothing

Each page is typed into an empty folder of its own, command after command. What is printed must be what
the page shows, but that

    ...          stands for any lines, or within a line for any characters
    5.2 s        a time may be another
    1.234        a number may be off by a twentieth, or by two of its last digit
    1e-12        one so small or large by a factor of three
    ▉            bars are not looked at, nor how many blanks stand between words

and a command of which nothing is shown may print anything. Remarks on the way (stderr: how a file was
read, how far a fit is) are not shown. Commands must succeed, but those that show a refusal.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
COURSE = ROOT / "docs" / "course"
PROMPT = "$ "
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
TIME = re.compile(r"(?<![\w.])[\d,.]+(?: s\b| tokens/s\b)")
BARS = re.compile("[█▉▊▋▌▍▎▏]+")
REFUSED = "Received: "
SECONDS = 600  # the longest a command may take on a busy machine


@dataclass
class Command:
    """What is typed, and what the page shows below it."""

    line: int  # of the page, counted from 1
    typed: str
    shown: list[str] = field(default_factory=list)
    begins: int = 0  # the line of the page, counted from 0, at which what is shown begins


def commands_of(text: str) -> list[Command]:
    """The commands of all console blocks of a page."""
    found: list[Command] = []
    inside = continues = False
    for number, line in enumerate(text.splitlines()):
        if line.startswith("```"):
            inside, continues = line == "```console", False
        elif inside and (continues or line.startswith(PROMPT)):
            if continues:
                found[-1].typed += "\n" + line
            else:
                found.append(Command(number + 1, line.removeprefix(PROMPT)))
            found[-1].begins = number + 1
            continues = line.endswith("\\")
        elif inside:
            found[-1].shown.append(line)
    return found


def typed(command: Command, folder: Path) -> tuple[list[str], bool]:
    """What a command prints, and whether it succeeds."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "COLUMNS": "140"}
    shim = f'seriatim() {{ "{sys.executable}" -m seriatim "$@"; }}\n'
    done = subprocess.run(
        ["bash", "-e", "-c", shim + command.typed],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    said = done.stdout + (done.stderr if done.returncode else "")
    lines = [line.rstrip() for line in said.splitlines()]
    refused = any(REFUSED in line for line in command.shown)
    return lines, (done.returncode != 0) == refused


def bare(line: str) -> str:
    """A line without bars and with single blanks; times are a mark."""
    return " ".join(BARS.sub(" ", TIME.sub("TIME", line)).split())


def near(shown: str, found: str) -> bool:
    """Whether a number is the one that is shown, as far as machines agree."""
    digits = len(shown.partition(".")[2])
    a, b = (float(each.replace(",", "")) for each in (shown, found))
    if "e" in shown:
        return a / 3 <= b <= a * 3
    return abs(a - b) <= max(abs(a) / 20, 2 * 10.0**-digits if digits else 0.0)


def same(shown: str, found: str) -> bool:
    """Whether a line is the one that is shown."""
    pattern, numbers = "", NUMBER.findall(bare(shown))
    for part in re.split(f"({NUMBER.pattern}|\\.\\.\\.)", bare(shown)):
        if part == "...":
            pattern += ".*?"
        elif NUMBER.fullmatch(part):
            pattern += f"({NUMBER.pattern})"
        else:
            pattern += re.escape(part)
    match = re.fullmatch(pattern, bare(found))
    return match is not None and all(map(near, numbers, match.groups()))


def agree(shown: list[str], found: list[str]) -> bool:
    """Whether lines are those that are shown, where `...` stands for any."""
    if not shown:
        return not found
    if shown[0] == "...":
        return any(agree(shown[1:], found[begin:]) for begin in range(len(found) + 1))
    return bool(found) and same(shown[0], found[0]) and agree(shown[1:], found[1:])


def differences(page: Path) -> list[tuple[Command, list[str], str]]:
    """Commands of a page that print something else than it shows: what, and why that is wrong."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for command in commands_of(page.read_text()):
            found, well = typed(command, Path(folder))
            shown = [line.rstrip() for line in command.shown]
            if not well:
                wrong.append((command, found, "fails" if shown or found else "fails silently"))
            elif shown and not agree(shown, found):
                wrong.append((command, found, "prints something else"))
            elif not shown and found:
                wrong.append((command, found, ""))
    return wrong


def told(page: Path) -> list[str]:
    """The same as sentences: each command with what it shows and what it prints."""
    lines = []
    for command, found, why in differences(page):
        if why:
            lines += [f"{page.name}:{command.line} {why}: {command.typed}"]
            lines += [f"    shown {line}" for line in command.shown]
            lines += [f"    found {line}" for line in found]
    return lines


def written(page: Path, fill: bool) -> None:
    """Put what is printed into a page."""
    lines = page.read_text().splitlines()
    for command, found, why in reversed(differences(page)):
        if why.startswith("fails"):
            print(f"{page.name}:{command.line} {why}: {command.typed}", *found, sep="\n    ")
        if why or fill:
            lines[command.begins : command.begins + len(command.shown)] = found
    page.write_text("\n".join(lines) + "\n")


def main(arguments: list[str]) -> int:
    """Look at pages, or write them."""
    flags = {each for each in arguments if each.startswith("--")}
    pages = [Path(each) for each in arguments if each not in flags] or sorted(COURSE.glob("*.md"))
    if flags:
        for page in pages:
            written(page, "--fill" in flags)
        return 0
    wrong = [line for page in pages for line in told(page)]
    print(*wrong, sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
