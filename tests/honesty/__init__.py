"""What strangers met in their first hour, each as a test that failed before it was mended."""

from __future__ import annotations

import contextlib
import io
import json
from typing import Any, NamedTuple

from seriatim.cli.main import main


class Said(NamedTuple):
    """What a command said."""

    code: int
    out: str
    err: str

    @property
    def record(self) -> Any:
        """What it printed with --format json."""
        return json.loads(self.out)


def seriatim(*arguments: object) -> Said:
    """Type a command: through the door a stranger takes."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(each) for each in arguments])
    return Said(code, out.getvalue(), err.getvalue())
