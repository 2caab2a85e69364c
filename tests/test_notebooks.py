"""The notebooks of examples/: what is committed is clean, and they run from beginning to end."""

from __future__ import annotations

import json
import subprocess
import sys

import nbformat
import pytest

from tests.notebooks import NOTEBOOKS, ROOT, outputs, problems

TOLD = [path.stem for path in NOTEBOOKS]


def test_there_is_one_for_each_family_of_tasks_and_for_models_of_ones_own_and_the_docs_name_it():
    assert TOLD == ["forecast", "labels", "language", "own_rung", "translate", "vectors", "wholes"]
    page = (ROOT / "docs" / "README.md").read_text()
    assert all(f"(../examples/{name}.ipynb)" in page for name in TOLD)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=TOLD)
def test_what_is_committed_was_run_in_order_and_is_clean(path):
    notebook = nbformat.read(path, 4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert outputs(notebook) and problems(notebook) == []


def test_what_must_not_be_there_is_found():
    bad = nbformat.v4.new_output("display_data", {"text/html": "<script src='https://a.b/c'>"})
    error = nbformat.v4.new_output("error", ename="E", evalue="no", traceback=[])
    cells = [nbformat.v4.new_code_cell("x", outputs=[bad, error])]
    found = problems(nbformat.v4.new_notebook(cells=cells))
    assert found == ["a script in text/html", "an address in text/html", "error: no"]


@pytest.mark.slow
@pytest.mark.parametrize("name", TOLD)
def test_they_run(name):
    program = (
        "import json, sys; from tests.notebooks import *; "
        "print(json.dumps(problems(executed(ROOT / 'examples' / sys.argv[1]))))"
    )
    command = [sys.executable, "-c", program, f"{name}.ipynb"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []
