"""Hostile values in the records of run folders, signed anew: only our errors may come.

    python -m tests.campaign.values --count 2000 [--seed 0] [--only codec,tensors]

Every record of small runs of all tasks (manifest, config, codec, metrics, the tokenizer inside of a
codec, the arrays of the weights) gets values that nobody expects; checksums are written anew, so that
they say nothing. The folder is opened and, if that succeeds, asked what its task does, under a bound on
address space and on time.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.campaign.children import Report, both, child, together
from tests.campaign.mutations import hostile, mutate
from tests.strangers import copied, sign

MODULE = "tests.campaign.values"
KINDS = ("manifest", "config", "codec", "metrics", "tokenizer", "tensors", "header")
RUNS = "SERIATIM_CAMPAIGN_RUNS"  # where the whole runs are
SUBWORDS = {
    ("language", "pieces"): ("markov", {"unit": "subword", "vocabulary": 270, "order": 2}),
    ("language", "unigrams"): (
        "markov",
        {"unit": "subword", "vocabulary": 270, "method": "unigram", "order": 2},
    ),
    ("language", "word-piece"): ("markov", {"tokenizer": "word-piece", "order": 2}),
    ("language", "fallback"): ("markov", {"tokenizer": "fallback", "order": 2}),
    ("language", "normal-form"): ("markov", {"tokenizer": "normal-form", "order": 2}),
    ("classify", "pieces"): ("naive-bayes", {"unit": "subword", "vocabulary": 270}),
}
QUIET = {"against", "out"}  # options of verbs that need other runs, or write


def make_runs(folder: Path) -> None:
    """A small run of every role of every task, and some of subwords."""
    import seriatim as st
    from tests.examples import EXAMPLES, Workshop

    workshop = Workshop(folder, 0)
    for task, example in EXAMPLES.items():
        for role in example.models:
            workshop.run(task, role)
    for (task, role), (model, settings) in SUBWORDS.items():
        out = folder / task / "runs" / role
        st.fit(task, model, workshop.train(task, "counted"), out=out, **given(settings, folder))


def given(settings: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Settings with the tokenizer that they name as a file."""
    from tests.families import source

    if "tokenizer" not in settings:
        return settings
    path = folder / "tokenizer.json"
    path.write_text(source(settings["tokenizer"]))
    return settings | {"tokenizer": str(path)}


def runs_in(folder: Path, kind: str) -> list[tuple[str, str]]:
    """The tasks and roles of the runs that have such a record."""
    found = sorted(file.parent for file in folder.glob("*/runs/*/manifest.json"))
    named = [(run.parent.parent.name, run.name) for run in found]
    return [each for each in named if each in SUBWORDS] if kind == "tokenizer" else named


# -- one kind each: changes the files of a run, which is signed anew afterwards
def change_json(run: Path, name: str, dice: random.Random) -> None:
    """A JSON file with hostile values."""
    record = json.loads((run / name).read_bytes())
    (run / name).write_text(json.dumps(hostile(record, dice)))


def change_manifest(run: Path, dice: random.Random) -> None:
    """The manifest, which nobody signs."""
    change_json(run, "manifest.json", dice)


def change_codec(run: Path, dice: random.Random) -> None:
    """The vocabulary."""
    change_json(run, "codec.json", dice)


def change_metrics(run: Path, dice: random.Random) -> None:
    """How the fit ended."""
    change_json(run, "metrics.json", dice)


def change_tokenizer(run: Path, dice: random.Random) -> None:
    """What stands inside of a codec as text."""
    record = json.loads((run / "codec.json").read_bytes())
    inner = hostile(json.loads(record["tokenizer"]), dice)
    record["tokenizer"] = json.dumps(inner)
    (run / "codec.json").write_text(json.dumps(record))


def change_config(run: Path, dice: random.Random) -> None:
    """The settings."""
    record = tomllib.loads((run / "config.toml").read_text())
    changed = hostile(record, dice)
    try:
        words = written(changed)
    except (TypeError, ValueError, AttributeError):  # what TOML cannot say
        words = mutate((run / "config.toml").read_bytes(), dice).decode(errors="replace")
    (run / "config.toml").write_text(words, errors="replace")


def written(record: dict[str, Any]) -> str:
    """Tables of tables as TOML."""
    from seriatim.settings import toml_value

    lines: list[str] = []
    for title, table in record.items():
        plain = {key: value for key, value in table.items() if not isinstance(value, dict)}
        inner = {key: value for key, value in table.items() if isinstance(value, dict)}
        if plain or not inner:
            lines.append(f"[{toml_value(title)}]")
            lines += [f"{toml_value(key)} = {toml_value(value)}" for key, value in plain.items()]
        for name, values in inner.items():
            lines.append(f"[{toml_value(title)}.{toml_value(name)}]")
            lines += [f"{toml_value(key)} = {toml_value(value)}" for key, value in values.items()]
    return "\n".join(lines)


def change_tensors(run: Path, dice: random.Random) -> None:
    """Arrays of other values, shapes and kinds."""
    import torch

    from seriatim.storage import read_arrays, write_arrays

    file = run / dice.choice(["weights.safetensors"] * 4 + ["seen.safetensors"])
    if not file.is_file():
        file = run / "weights.safetensors"
    arrays, record = read_arrays(file)
    arrays = {name: array.clone() for name, array in arrays.items()}
    for _ in range(dice.choice([1, 1, 2])):
        name = dice.choice(sorted(arrays)) if arrays else "none"
        how = dice.choice(["values", "values", "shape", "kind", "gone", "more", "empty", "longer"])
        array = arrays.get(name, torch.zeros(1))
        if how == "values" and array.numel():
            place = dice.randrange(array.numel())
            value = dice.choice([0, -1, 1, 7, 10**6, 2**31 - 1, -(2**31), 2**62, -(2**62)])
            odd = dice.choice([float("nan"), float("inf"), -float("inf"), 1e30, -1e30, 0.0])
            flat = array.reshape(-1)
            flat[place if dice.random() < 0.7 else slice(None)] = (
                odd
                if array.is_floating_point()
                else value % 128
                if array.itemsize < 4
                else narrow(value, array)
            )
        elif how == "shape":
            arrays[name] = array.reshape(-1) if dice.random() < 0.5 else array[None]
        elif how == "kind":
            arrays[name] = array.to(
                dice.choice([torch.float64, torch.int64, torch.int32, torch.uint8])
            )
        elif how == "gone":
            arrays.pop(name, None)
        elif how == "more":
            arrays[name + "x"] = array
        elif how == "empty":
            arrays[name] = array.reshape(-1)[:0]
        else:
            arrays[name] = torch.cat([array, array]) if array.ndim else array
    write_arrays(file, {name: array.contiguous() for name, array in arrays.items()}, record)


def narrow(value: int, array: Any) -> int:
    """The value, if the array can hold it."""
    return value if array.itemsize == 8 else max(-(2**31), min(2**31 - 1, value))


def change_header(run: Path, dice: random.Random) -> None:
    """The header of the arrays: names, shapes, offsets."""
    file = run / "weights.safetensors"
    content = file.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.dumps(hostile(json.loads(content[8 : 8 + length]), dice)).encode()
    size = len(header) if dice.random() < 0.9 else dice.choice([0, 2**40, 2**63, len(content) * 2])
    file.write_bytes(size.to_bytes(8, "little") + header + content[8 + length :])


def prepare(kind: str, place: Path) -> Callable[[int, int], bool]:
    """Within a child: what one case is."""
    import numpy as np

    import seriatim as st
    from seriatim.errors import SeriatimError
    from seriatim.tasks import task as card_of
    from tests.examples import EXAMPLES, Workshop

    np.seterr(all="ignore")
    folder = Path(os.environ[RUNS])
    workshop = Workshop(folder, 0)
    chosen = runs_in(folder, kind)
    for task, role in runs_in(folder, ""):
        workshop.fitted[task, role] = folder / task / "runs" / role
    change = globals()[f"change_{kind}"]

    def asked(task: str, role: str, dice: random.Random) -> tuple[str, Any, dict[str, Any]]:
        """A verb of the task that this model can be asked."""
        roles = set(EXAMPLES[task].models)
        several = [
            (verb, ask)
            for verb, asks in EXAMPLES[task].asks.items()
            for ask in asks
            if card_of(task).verbs[verb].runs  # others are asked of no model
            and verb not in ("compress", "restore", "export", "plot", "best")
            and not QUIET & ask.options.keys()
            and (role in workshop.roles(task, ask) or role not in roles)
            and not (role not in roles and ask.models)
        ]
        verb, ask = dice.choice(several)
        return verb, workshop.data(task, ask.data), workshop.options(task, ask)

    def one(number: int, seed: int) -> bool:
        dice = random.Random(f"{kind} {seed} {number}")
        task, role = chosen[number % len(chosen)]
        run = copied(folder / task / "runs" / role, place / "run")
        if number >= 0:
            change(run, dice)
            if kind != "manifest":
                sign(run)
        verb, data, options = asked(task, role, dice)
        try:
            given = [data] if data is not None else []
            found = st.call(verb, run, *given, **options)
            json.dumps(st.records.plain(found), allow_nan=False)
        except SeriatimError as error:
            assert str(error) and json.dumps(error.record())
            return False
        return True

    from seriatim import records

    st.records = records
    for number in range(
        -len(chosen), 0, max(1, len(chosen) // 10)
    ):  # whole ones are answered, and libraries loaded
        one(number, 0)
    return one


def run(count: int, seed: int = 0, only: str = "") -> Report:
    """So many hostile records of each kind; figures for each, and what went wrong."""
    with tempfile.TemporaryDirectory(prefix="campaign-") as folder:
        before = os.environ.get(RUNS)
        if before is None:
            make_runs(Path(folder) / "runs")
            os.environ[RUNS] = str(Path(folder) / "runs")
        try:
            return together(both(MODULE, only.split(",") if only else list(KINDS), count, seed))
        finally:
            if before is None:
                del os.environ[RUNS]


def main() -> int:
    """As a command."""
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:], prepare)
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    return int(bool(run(asked.count, asked.seed, asked.only)["problems"]))


if __name__ == "__main__":
    sys.exit(main())
