"""What we depend on: licences, versions, and known advisories where a database is at hand.

    python -m tests.audit_dependencies          (make audit)

The packages are those that `pyproject.toml` needs to run, and what these need. Exit code 1 if a licence
is missing or forbids what ours allows, or if an advisory is known.
"""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import metadata

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


def advisories() -> tuple[bool, str]:
    """Whether any is known, and what was found, or why nothing was looked up."""
    try:
        metadata.version("pip-audit")
    except metadata.PackageNotFoundError:
        return False, "not looked up: pip-audit is not installed (pip install pip-audit)"
    command = [sys.executable, "-m", "pip_audit", "--progress-spinner", "off"]
    found = subprocess.run(command, capture_output=True, text=True)
    words = (found.stdout + found.stderr).strip()
    if "No known vulnerabilities" in words:
        return False, "none known"
    if "ConnectionError" in words or "Max retries" in words or "Traceback" in words:
        return False, "not looked up: the database cannot be reached from here"
    return True, words


def main() -> int:
    """The table, and what is wrong with it."""
    wrong = []
    print(f"{'package':<26} {'version':<14} licence")
    for name in needed():
        words = licence(name)
        print(f"{name:<26} {metadata.version(name):<14} {words}")
        if not PERMISSIVE.search(words) or COPYLEFT.search(words):
            wrong.append(f"{name}: {words or 'no licence is told'}")
    known, words = advisories()
    print(f"advisories: {words}")
    for each in wrong:
        print(f"look at the licence of {each}")
    return int(bool(wrong) or known)


if __name__ == "__main__":
    sys.exit(main())
