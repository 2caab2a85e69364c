"""Run the notebooks of examples/ and keep what they give: `python -m tests.notebooks [NAME ...]`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from traitlets.config import Config

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
NAMESPACE = re.compile(r"xmlns(:\w+)?=\\?[\"']http://www\.w3\.org/[\w/]+\\?[\"']")
REFUSED = {
    "a script": re.compile(r"<script", re.I),
    "an address": re.compile(r"https?://", re.I),
    "a path of a machine": re.compile(r"(?<![\w.])/(home|root|tmp|Users|var|usr|work)/"),
}
SHOWN = {"text/html", "image/svg+xml"}
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def executed(path: Path) -> NotebookNode:
    """A notebook with the outputs of a run from its beginning, and nothing of the machine in it."""
    notebook = nbformat.read(path, 4)
    local = Config({"KernelManager": {"transport": "ipc"}})
    place = {"metadata": {"path": str(ROOT)}}
    NotebookClient(notebook, config=local, timeout=600, resources=place).execute()
    notebook.metadata = NotebookNode(kernelspec=KERNEL, language_info={"name": "python"})
    for cell in notebook.cells:
        cell.metadata = NotebookNode()
    for output in outputs(notebook):
        if SHOWN & {*output.get("data", ())}:
            del output.data["text/plain"]  # the same once more, a record as a dict of pages
    return notebook


def outputs(notebook: NotebookNode) -> list[NotebookNode]:
    """What all cells gave."""
    return [each for cell in notebook.cells for each in cell.get("outputs", ())]


def problems(notebook: NotebookNode) -> list[str]:
    """What must not be in outputs: errors, warnings, scripts, addresses, paths."""
    found = []
    for output in outputs(notebook):
        if output.output_type == "error" or output.get("name") == "stderr":
            found.append(f"{output.output_type}: {output.get('evalue') or output.get('text')}")
        shown = output.get("data", {"text/plain": output.get("text", "")})
        for kind, content in shown.items():
            text = NAMESPACE.sub("", str(content))
            found += [f"{what} in {kind}" for what, each in REFUSED.items() if each.search(text)]
    return found


if __name__ == "__main__":
    for each in NOTEBOOKS:
        if len(sys.argv) == 1 or each.stem in sys.argv[1:]:
            ran = executed(each)
            nbformat.write(ran, each)
            print(each.name, *problems(ran))
