"""Weights are what was written: every byte is checked, whatever the size, by several threads."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
from pathlib import Path

import pytest
import torch

import seriatim as st
from seriatim import storage
from seriatim.errors import RunError, TrainingError
from seriatim.models.base import check_finite
from seriatim.storage import Digest, checksum, checksums, read_arrays, write_arrays
from tests.terminal import call, prose

SMALL = {"width": 8, "rows": 2, "length": 8, "updates": 2}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    home = tmp_path_factory.mktemp("runs")
    (home / "book.txt").write_text(prose(30, 1))
    for model in ("markov", "lstm", "kneser-ney+lstm"):
        own = {} if model == "markov" else SMALL
        st.fit("language", model, home / "book.txt", out=home / model, **own)
    return home


def resigned(folder: Path) -> None:
    """A manifest for whatever is there."""
    file = folder / "manifest.json"
    manifest = json.loads(file.read_text())
    for name, entry in manifest["files"].items():
        entry |= {"sha256": checksum(folder / name), "bytes": (folder / name).stat().st_size}
    file.write_text(json.dumps(manifest, indent=1) + "\n")


# -- checksums
@pytest.mark.parametrize("size", [0, 1, 99, 100, 101, 200, 250, 1000])
def test_checksums_of_pieces_are_found_while_writing_and_while_reading(tmp_path, monkeypatch, size):
    monkeypatch.setattr(storage, "PIECE", 100)
    monkeypatch.setattr(storage, "BLOCK", 7)
    content = random.Random(size).randbytes(size)
    (tmp_path / "file").write_bytes(content)
    digest, rest = Digest(), content
    while rest:
        digest.update(rest[:33])
        rest = rest[33:]
    pieces = [content[i : i + 100] for i in range(0, max(1, size), 100)]
    sums = [hashlib.sha256(each).digest() for each in pieces]
    slow = sums[0] if len(sums) == 1 else hashlib.sha256(b"".join(sums)).digest()
    assert digest.hexdigest() == slow.hex() == checksum(tmp_path / "file")
    assert storage.write_pieces(tmp_path / "other", [content[:40], content[40:]]) == slow.hex()


def test_a_small_file_has_the_checksum_that_sha256sum_prints(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    assert checksums([tmp_path / "a"]) == {tmp_path / "a": hashlib.sha256(b"abc").hexdigest()}


@pytest.mark.parametrize("large", [False, True])
def test_every_flipped_bit_of_every_file_is_noticed(runs, tmp_path, monkeypatch, large):
    if large:  # as if it had more than one piece
        monkeypatch.setattr(storage, "PIECE", 1000)
    shutil.copytree(runs / "lstm", tmp_path / "run")
    if large:
        resigned(tmp_path / "run")
    dice = random.Random(1)
    for file in sorted((tmp_path / "run").iterdir()):
        content = file.read_bytes()
        for _ in range(12):
            place, bit = dice.randrange(len(content)), 1 << dice.randrange(8)
            changed = bytes([content[place] ^ bit])
            file.write_bytes(content[:place] + changed + content[place + 1 :])
            if file.name != "card.md":  # which is for people
                with contextlib.suppress(RunError):
                    st.load(tmp_path / "run")
                    assert file.name == "manifest.json"  # what it says of the card
            assert not st.call("verify", tmp_path / "run")["whole"], file.name
        file.write_bytes(content)
    st.load(tmp_path / "run")


# -- verify=False, and the verb
def test_without_verify_a_run_opens_at_once_and_says_so_everywhere(runs, tmp_path, monkeypatch):
    shutil.copytree(runs / "lstm", tmp_path / "run")
    file = tmp_path / "run" / "weights.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(RunError, match="another checksum"):
        st.score(tmp_path / "run", ["to be"])
    found = st.score(tmp_path / "run", ["to be"], verify=False)
    assert found["verified"] is False
    assert st.load(tmp_path / "run", verify=False).score(["to be"])["verified"] is False
    assert "verified" not in st.score(runs / "lstm", ["to be"])
    both = st.score([runs / "lstm", tmp_path / "run"], ["to be"], verify=False)
    assert both["verified"] is False
    said = call("score", tmp_path / "run", "--text", "to be", "--verify", "false")
    assert said.code == 0 and "not checked" in said.err
    assert call("score", tmp_path / "run", "--text", "to be").code == 1


def test_without_verify_sizes_are_still_looked_at(runs, tmp_path):
    shutil.copytree(runs / "lstm", tmp_path / "run")
    with open(tmp_path / "run" / "weights.safetensors", "ab") as file:
        file.write(b"x")
    with pytest.raises(RunError, match="another size"):
        st.load(tmp_path / "run", verify=False)


def test_int8_may_be_said_to_be_false(runs):
    assert call("score", runs / "markov", "--text", "to be", "--int8", "false").code == 0
    assert call("score", runs / "markov", "--text", "to be", "--int8").code == 2


def test_the_verb_says_what_is_there(runs, tmp_path):
    said = call("verify", runs / "lstm")
    assert said.code == 0 and "whole: 7 files" in said.out
    shutil.copytree(runs / "lstm", tmp_path / "run")
    (tmp_path / "run" / "notes.txt").write_text("mine")
    (tmp_path / "run" / "checkpoint-0.safetensors").write_text("left")
    (tmp_path / "run" / "metrics.json").unlink()
    (tmp_path / "run" / "events.jsonl").write_text("{}\n")
    said = call("verify", tmp_path / "run")
    assert said.code == 1 and "NOT WHOLE" in said.out and "metrics.json: no such file" in said.out
    found = call("verify", tmp_path / "run", "--format", "json").json()["runs"][0]
    assert found["others"] == ["notes.txt"] and found["leftovers"] == ["checkpoint-0.safetensors"]
    wrong = {each["file"]: each["found"] for each in found["files"]}
    assert wrong["events.jsonl"] == "another size" and wrong["codec.json"] == "as written"
    assert call("verify", tmp_path).code == 1 and call("verify").code == 2
    assert call("verify", tmp_path / "run", "--size", "3").code == 2


def test_a_comparison_is_verified_run_by_run(runs, tmp_path):
    asked = {"models": "markov,unigram", "out": tmp_path / "table"}
    st.compare("language", runs / "book.txt", **asked)
    assert len(st.call("verify", tmp_path / "table")["runs"]) == 2
    weights = tmp_path / "table" / "runs" / "unigram" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"?")
    found = st.call("verify", tmp_path / "table")
    assert [each["whole"] for each in found["runs"]] == [True, False] and not found["whole"]


# -- finite where they must be
@pytest.mark.parametrize("model", ["markov", "lstm", "kneser-ney+lstm"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_refused(runs, tmp_path, model, value):
    arrays, _ = read_arrays(runs / model / "weights.safetensors")
    kept = ("log_g", "discounts")  # a back-off weight may be nothing
    names = [name for name, each in arrays.items() if each.is_floating_point()]
    for number, name in enumerate(each for each in names if not any(k in each for k in kept)):
        folder = tmp_path / str(number)
        shutil.copytree(runs / model, folder)
        harmed = arrays[name].clone()
        if not harmed.numel():
            continue
        harmed.view(-1)[-1] = value
        write_arrays(folder / "weights.safetensors", arrays | {name: harmed})
        resigned(folder)
        with pytest.raises(RunError, match=r"not finite, in"):
            st.load(folder)
        assert not st.call("verify", folder)["whole"]


def test_what_is_impossible_may_have_an_infinite_logarithm():
    minus = torch.tensor([-float("inf"), -1.0])
    check_finite({"log_p.1": minus, "0.log_p.2": minus, "log_weights": minus})
    check_finite({"1.log_g.2": torch.tensor([float("nan"), -1.0]), "counts": torch.arange(3)})
    for name in ("log_p.1", "log_weights", "x.log_q.1", "log_p"):
        with pytest.raises(ValueError, match="not finite"):
            check_finite({name: torch.tensor([float("nan")])})


def test_a_fit_does_not_keep_what_is_not_finite(runs, tmp_path):
    model = st.load(runs / "lstm")
    with torch.no_grad():
        model.model.embedding.weight[0, 0] = float("nan")
    with pytest.raises(TrainingError, match="cannot be kept"):
        model.save(tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("change", ["dtype", "shape", "missing", "more"])
def test_arrays_of_another_model_are_refused(runs, tmp_path, change):
    shutil.copytree(runs / "lstm", tmp_path / "run")
    file = tmp_path / "run" / "weights.safetensors"
    arrays, _ = read_arrays(file)
    name = next(name for name, each in arrays.items() if each.dim() == 2)
    changed = {
        "dtype": arrays | {name: arrays[name].double()},
        "shape": arrays | {name: arrays[name].T.contiguous()[:1]},
        "missing": {key: each for key, each in arrays.items() if key != name},
        "more": arrays | {"other": arrays[name]},
    }[change]
    write_arrays(file, changed)
    resigned(tmp_path / "run")
    with pytest.raises(RunError, match="do not fit"):
        st.load(tmp_path / "run")


# -- a file that is shortened while it is open
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_file_that_is_shortened_later_changes_nothing(runs, tmp_path):
    shutil.copytree(runs / "lstm", tmp_path / "run")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            model = st.load(tmp_path / "run")
            before = model.score(["to be"])
            os.truncate(tmp_path / "run" / "weights.safetensors", 100)
            code = int(model.score(["to be"]) != before)
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert not (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGBUS)
    assert os.WEXITSTATUS(status) == 0


def test_a_file_that_is_shortened_while_it_is_read_is_our_error(tmp_path, monkeypatch):
    file = tmp_path / "a.safetensors"
    write_arrays(file, {"a": torch.zeros(3000), "b": torch.ones(5000)})

    def shortened(handle, place, name, real=storage.fill):
        os.truncate(file, 8000)
        real(handle, place, name)

    monkeypatch.setattr(storage, "fill", shortened)
    with pytest.raises(RunError, match="cannot be read"):
        read_arrays(file)


def test_only_what_is_huge_is_mapped(tmp_path, monkeypatch):
    file = tmp_path / "a.safetensors"
    write_arrays(file, {"a": torch.arange(3000)})
    monkeypatch.setattr(storage, "huge", lambda: 1000)
    monkeypatch.setattr(storage, "in_memory", None)
    assert torch.equal(read_arrays(file)[0]["a"], torch.arange(3000))
