"""What we depend on: licences, versions, ages, and known advisories where a database is at hand.

    python -m tests.audit_dependencies          (make audit)

The packages are those that `pyproject.toml` needs to run, and what these need. Exit code 1 if a licence
is missing or forbids what ours allows, or if an advisory is known.

Installed packages do not say when they were released. What is told is the newest date of the files that
RECORD names: when they were written here, or unpacked with their dates; the release is not later.
"""

from __future__ import annotations

import datetime
import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

PERMISSIVE = re.compile(
    r"MIT|BSD|Apache|PSF|Python Software Foundation|ISC|MPL|Mozilla|Unlicense|Zlib|CNRI|HPND|0BSD|CC0"
)
COPYLEFT = re.compile(r"\b[AL]?GPL|GNU (Affero|Lesser|General)", re.IGNORECASE)


def needed(root: str = "seriatim") -> list[str]:
    """All packages that are needed to run, by what each one says it requires."""
    found: dict[str, None] = {}
    waiting = [root]
    while waiting:
        name = waiting.pop()
        try:
            required = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue  # of another system, say
        if name != root:
            found[metadata.metadata(name)["Name"]] = None
        for line in required:
            other, _, marker = line.partition(";")
            inner = re.split(r"[\s\[<>=!~(]", other.strip())[0]
            known = {each.lower().replace("_", "-") for each in (*found, *waiting)}
            if "extra" not in marker and inner.lower().replace("_", "-") not in known:
                waiting.append(inner)
    return sorted(found, key=str.lower)


def licence(name: str) -> str:
    """What a package says of its licence, in a few words."""
    about = metadata.metadata(name)
    classes = [
        each.rpartition("::")[2].strip()
        for each in about.get_all("Classifier") or []
        if each.startswith("License ::")
    ]
    written = about.get("License-Expression") or "; ".join(classes) or about.get("License") or ""
    return written.split("\n")[0][:60]


def newest(name: str) -> str:
    """The newest date of the files of a package, and how many days ago that was."""
    places = [Path(str(file.locate())) for file in metadata.files(name) or []]
    dates = [place.stat().st_mtime for place in places if place.is_file()]
    if not dates:
        return "unknown"
    day = datetime.datetime.fromtimestamp(max(dates), datetime.UTC).date()
    return f"{day} ({(datetime.datetime.now(datetime.UTC).date() - day).days} d)"


def advisories(names: list[str]) -> tuple[bool, str]:
    """Whether any is known of these packages, and what was found, or why nothing was looked up."""
    try:
        metadata.version("pip-audit")
    except metadata.PackageNotFoundError:
        return False, "not looked up: pip-audit is not installed (pip install pip-audit)"
    command = [sys.executable, "-m", "pip_audit", "--progress-spinner", "off", "--format", "json"]
    found = subprocess.run(command, capture_output=True, text=True)
    try:
        answers = json.loads(found.stdout)["dependencies"]
    except (ValueError, LookupError, TypeError):
        return False, "not looked up: pip-audit ended without an answer (is there a network?)"
    return understood(answers, names)


def understood(answers: list[dict[str, Any]], names: list[str]) -> tuple[bool, str]:
    """What pip-audit answered, in words. It says that nothing is known of packages it could not look
    up, too: these are counted by themselves."""
    wanted = {plain(name) for name in names}
    own = [each for each in answers if plain(each["name"]) in wanted]
    known = {each["name"]: each["vulns"] for each in own if "skip_reason" not in each}
    missing = len(wanted) - len(known)
    if not known:
        return False, f"not looked up: the database could not be asked about any of {len(wanted)}"
    several = [f"{name} {each['id']}" for name, vulns in known.items() for each in vulns]
    words = f"{', '.join(several) or 'none known'}; {len(known)} packages looked up"
    return bool(several), words + (f", {missing} could not be" if missing else "")


def plain(name: str) -> str:
    """The name of a package, as all its spellings are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def main() -> int:
    """The table, and what is wrong with it."""
    wrong = []
    print(f"{'package':<26} {'version':<14} {'files of':<20} licence")
    names = needed()
    for name in names:
        words = licence(name)
        print(f"{name:<26} {metadata.version(name):<14} {newest(name):<20} {words}")
        if not PERMISSIVE.search(words) or COPYLEFT.search(words):
            wrong.append(f"{name}: {words or 'no licence is told'}")
    print("files of: the newest date in RECORD, that is of installing; the release is not later")
    known, words = advisories(names)
    print(f"advisories: {words}")
    for each in wrong:
        print(f"look at the licence of {each}")
    return int(bool(wrong) or known)


if __name__ == "__main__":
    sys.exit(main())
