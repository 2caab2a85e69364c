"""Open what was kept: a run folder, or what other programs wrote and some room knows how to open."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch

from seriatim.errors import ConfigError, RunError, SeriatimError
from seriatim.layers.devices import chosen, place
from seriatim.models.base import check_finite
from seriatim.models.ladder import Part, create
from seriatim.models.options import NetworkOptions
from seriatim.models.recipe import TrainingOptions
from seriatim.runs.folder import CARD, FILES, FORMAT
from seriatim.runs.places import MANIFEST, MARK, RUN, kind_of
from seriatim.runs.predictor import Predictor
from seriatim.runs.shapes import CONFIG, METRICS
from seriatim.runs.shapes import MANIFEST as OF_MANIFEST
from seriatim.settings import build, from_toml, named
from seriatim.shapes import check
from seriatim.storage import checksums, read_arrays, read_bytes, read_json
from seriatim.tasks import task, tasks

REFIT = "Restore it or fit again"


def load(
    folder: str | Path,
    verify: bool = True,
    int8: bool = False,
    device: str = "auto",
    mute: str = "",
) -> Predictor:
    """A finished run folder -> Predictor; every file is held against the checksum in the manifest.
    Or a file of others: n-grams as ARPA, the folder of a GPT-2, word vectors.

    Without `verify` only the sizes are looked at, and every record says so: `verified` is false.
    With `int8` the linear maps of networks compute in 8 bits: faster, a little less exact; on the
    CPU, which is where compiled code is. Else networks compute on this `device`, wherever they were
    fitted. Heads of attention that are to `mute` give zeros, and every record says so; the files
    stay as they are.
    """
    where = placing(device, int8)
    folder = Path(folder)
    if os.path.isfile(folder / MANIFEST):
        predictor = open_run(folder, verify)
        predictor.verified = verify
    else:
        predictor = open_other(folder)
    predictor.folder = folder
    if mute:
        predictor.mute(mute)
    if int8:
        if not predictor.model.quantise():
            raise ConfigError(
                "this model has no linear maps that could compute in 8 bits",
                got=predictor.spec,
                do="Leave out int8",
            )
        predictor.int8 = True
    place(predictor.model, where)
    return predictor


def placing(device: str, int8: bool) -> torch.device:
    """Where the networks of a run are to compute."""
    if int8 and device not in ("auto", "cpu"):
        raise ConfigError(
            "networks compute in 8 bits on the CPU alone",
            got=f"--device {device}",
            do="Leave out --int8 or --device",
        )
    return chosen("cpu" if int8 else device)


def open_other(path: Path) -> Predictor:
    """What another program wrote, by the first room that knows it; what is wrong with a file is told
    by the room that takes it for one of its own."""
    if kind_of(path) == RUN:
        raise RunError(
            f"{path} holds an unfinished fit",
            do="Repeat the fit command with --resume to finish it",
        )
    for room in tasks():
        for opener in room.openers:
            found = named(opener)(path)
            if found is not None:
                return found
    raise RunError(
        f"{path} is not a run folder",
        got="no manifest.json" if os.path.isdir(path) else "no such folder",
        do="Give the folder that fit or compare wrote, an ARPA file, or the folder of a GPT-2",
    )


def open_run(folder: Path, verify: bool) -> Predictor:
    """A finished run folder."""
    manifest = read_manifest(folder)
    for name, wrong in damages(folder, manifest, verify).items():
        if name != CARD:
            raise RunError(f"{folder / name} is not the file that was written", got=wrong, do=REFIT)
    file = folder / "config.toml"
    settings = from_toml(read_bytes(file).decode("utf-8", "replace"), str(file))
    check_format(folder, settings.get("run"))
    if manifest["seriatim"] != settings["run"].get("seriatim"):
        raise damaged(folder)
    try:
        check(settings, CONFIG, "config.toml")
        return put_together(folder, settings)
    except SeriatimError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise RunError(f"{folder} does not fit together", got=error, do=REFIT) from None
    except (RuntimeError, AssertionError, MemoryError) as error:
        raise RunError(f"{folder} does not fit together", got=error, do=REFIT) from None


def check_format(folder: Path, run: Any) -> None:
    """Refuse folders of another format by its number."""
    found = run.get("format", run.get("version", "none")) if isinstance(run, dict) else "none"
    if found != FORMAT:
        raise RunError(
            f"{folder} is a run folder of another format",
            got=f"format {found}, and this is seriatim for format {FORMAT}",
            do="Fit again, or open it with the version that wrote it",
        )


def damaged(folder: Path, got: Any = None) -> RunError:
    """What is said of a manifest that was changed."""
    return RunError(f"{folder / MANIFEST} is damaged", got=got, do=REFIT)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a run, if it has the form of one."""
    manifest = read_json(folder / MANIFEST)
    if not isinstance(manifest, dict) or "seriatim" not in manifest:
        raise damaged(folder)
    check_format(folder, manifest)
    try:
        check(manifest, OF_MANIFEST)
    except ValueError as error:
        raise damaged(folder, error) from None
    missing = [name for name in FILES if name not in manifest["files"]]
    if missing:
        raise damaged(folder, f"no {', '.join(missing)}")
    return manifest


def damages(folder: Path, manifest: dict[str, Any], verify: bool = True) -> dict[str, str]:
    """The files that are not what the manifest says, and in what; without `verify` only their sizes
    are looked at. Several threads read, whatever the size."""
    files, found = manifest["files"], {}
    for name, entry in files.items():
        size = os.path.getsize(folder / name) if os.path.isfile(folder / name) else None
        if size is None:
            found[name] = "no such file"
        elif size != entry.get("bytes"):
            found[name] = "another size"
    sums = checksums(folder / name for name in files if name not in found) if verify else {}
    for path, each in sums.items():
        if each != files[path.name].get("sha256"):
            found[path.name] = "another checksum"
    mark = folder / MARK
    if mark.is_file() and kind_of(folder) != RUN:
        found[MARK] = "another mark"
    return found


def check_sizes(parts: list[Part], arrays: dict[str, torch.Tensor]) -> None:
    """Raises ValueError if networks have more layers than the weights have arrays, or vectors wider
    than all of them are long: then they need not be laid out to see that they do not fit."""
    numbers = sum(array.numel() for array in arrays.values())
    for part in parts:
        if isinstance(part.options, NetworkOptions):
            if part.options.layers > len(arrays):
                raise ValueError(f"{part.options.layers} layers, and {len(arrays)} arrays")
            if part.options.width > numbers:
                raise ValueError(f"width {part.options.width}, and {numbers} numbers in all")


def put_together(folder: Path, settings: dict[str, Any]) -> Predictor:
    """Codec, model and settings of a folder whose files are whole."""
    run = settings["run"]
    room = task(run["task"])
    file = folder / "codec.json"
    codec = named(room.codec)(read_json(file), str(file))
    parts = []
    for i, name in enumerate(run["model"].split("+")):
        rung = room.rung(name)
        options: Any = build(rung.options, settings["model"][str(i)], str(folder))
        training = build(TrainingOptions, settings["training"][str(i)], str(folder))
        parts.append(Part(name, rung, options, training))
    arrays, _ = read_arrays(folder / "weights.safetensors")
    check_finite(arrays)
    check_sizes(parts, arrays)
    with torch.device("meta"):  # no memory is taken before the shapes agree
        model = create(parts, codec.size, *codec.sizes, mixture=room.mixture)
    model.load_arrays(arrays)
    for part in model.parts:
        if isinstance(part, torch.nn.Module):
            check_filled(part)
            part.eval()
    reading: Any = build(room.reading, settings.get("reading", {}), str(folder))
    metrics = read_json(folder / "metrics.json")
    check(metrics, METRICS, "metrics.json")
    predictor = room.predictor_class(
        room, run["model"], parts, codec, model, run["by"], reading, metrics
    )
    check(metrics, predictor.kept(), "metrics.json")
    return predictor


def check_filled(network: torch.nn.Module) -> None:
    """Refuse a network that has places without memory left: it was laid out so, and took back less
    than it needs."""
    tensors = (*network.named_parameters(), *network.named_buffers())
    empty = [name for name, value in tensors if value.is_meta]
    if empty:
        raise RunError(
            f"{type(network).__name__} did not take back all that it computes with",
            got=f"no values for {', '.join(empty[:5])}",
            do="Leave `load_arrays` to NeuralModel, or let it assign what it is given; "
            'make a buffer that is not kept with device="cpu"',
        )
