"""What we depend on: licences, ages, and known advisories where a database is at hand.

    python -m tests.audit_dependencies          (make audit)

The packages are those that `pyproject.toml` needs to run, and what these need. Exit code 1 if a licence
is missing or forbids what ours allows, or if an advisory is known.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import urllib.request
from importlib import metadata
from pathlib import Path

INDEX = "INDEX"
PERMISSIVE = re.compile(
    r"MIT|BSD|Apache|PSF|Python Software Foundation|ISC|MPL|Mozilla|Unlicense|Zlib|CNRI|HPND|0BSD|CC0"
)
COPYLEFT = re.compile(r"\b[AL]?GPL|GNU (Affero|Lesser|General)", re.IGNORECASE)
OLD = 3 * 365  # days


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


def ages(name: str, version: str, online: bool) -> tuple[int | None, int]:
    """Days since this version was published, if the index can be asked, and since it was installed."""
    place = metadata.distribution(name).locate_file("")
    files = metadata.files(name) or []
    record = next((each for each in files if each.name == "METADATA"), None)
    since = (Path(str(place)) / str(record)).stat().st_mtime if record else time.time()
    installed = int((time.time() - since) / 86_400)
    if not online:
        return None, installed
    try:
        with urllib.request.urlopen(INDEX.format(name=name, version=version), timeout=5) as page:
            uploaded = json.load(page)["urls"][0]["upload_time"]
    except (OSError, ValueError, LookupError):
        return None, installed
    then = time.mktime(time.strptime(uploaded, "%Y-%m-%dT%H:%M:%S"))
    return int((time.time() - then) / 86_400), installed


def reachable() -> bool:
    """Whether the index of packages answers."""
    try:
        with urllib.request.urlopen(INDEX.format(name="pip", version="24.0"), timeout=5):
            return True
    except (OSError, ValueError):
        return False


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
    online, wrong = reachable(), []
    print(f"{'package':<26} {'version':<14} {'published':>10} {'installed':>10}  licence")
    for name in needed():
        version, words = metadata.version(name), licence(name)
        published, installed = ages(name, version, online)
        told = "unknown" if published is None else f"{published} d"
        print(f"{name:<26} {version:<14} {told:>10} {f'{installed} d':>10}  {words}")
        if not PERMISSIVE.search(words):
            wrong.append(f"{name}: {words or 'no licence is told'}")
        elif COPYLEFT.search(words):
            wrong.append(f"{name}: {words}")
        if published is not None and published > OLD:
            print(f"    {name} {version} is older than {OLD // 365} years")
    if not online:
        print("published: the index of packages cannot be reached from here")
    known, words = advisories()
    print(f"advisories: {words}")
    for each in wrong:
        print(f"look at the licence of {each}")
    return int(bool(wrong) or known)


if __name__ == "__main__":
    sys.exit(main())
