"""Run folders of strangers: their records are data that is checked, whatever the checksums say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch

import seriatim as st
from seriatim.codecs.tokenizer_files import checked
from seriatim.distributions.symbols import Categorical
from seriatim.errors import RunError, SeriatimError
from seriatim.shapes import among, check, listed, mapping, optional, plain, real, table, text, whole
from seriatim.storage import read_arrays, write_arrays
from seriatim.tasks.language.inside import radius
from tests.strangers import changed, copied, sign
from tests.terminal import prose


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """Counts of subwords."""
    folder = tmp_path_factory.mktemp("stranger")
    (folder / "train.txt").write_text(prose(30, 1))
    out = folder / "run"
    settings = {"unit": "subword", "vocabulary": 270, "order": 2}
    st.fit("language", "markov", folder / "train.txt", out=out, **settings)
    return out


@pytest.fixture(scope="module")
def translator(tmp_path_factory) -> Path:
    """A translator that was tuned."""
    folder = tmp_path_factory.mktemp("translator")
    (folder / "train.tsv").write_text("".join(f"a{i} b\tc d{i}\n" for i in range(30)))
    settings = {"unit": "token", "columns": "source,target"}
    st.fit("translate", "lexicon", folder / "train.tsv", out=folder / "run", **settings)
    return folder / "run"


# -- tokenizers: findings of an attack
GROWING = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 1000}
SEARCHING = {
    "type": "Split",
    "pattern": {"Regex": "(a|aa)+$"},
    "behavior": "MergedWithPrevious",
    "invert": False,
}
PADDED = {
    "strategy": {"Fixed": 3_000_000_000},
    "direction": "Right",
    "pad_to_multiple_of": None,
    "pad_id": 0,
    "pad_type_id": 0,
    "pad_token": "<unk>",
}
CUT_SHORT = {"direction": "Right", "max_length": 1, "strategy": "LongestFirst", "stride": 0}
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}


@pytest.mark.parametrize(
    "part, value",
    [
        ("normalizer", GROWING),
        ("normalizer", {"type": "Sequence", "normalizers": [GROWING]}),
        ("normalizer", {"type": "Lowercase"}),  # of a codec that does not lower the case
        ("padding", PADDED),
        ("truncation", CUT_SHORT),
        ("pre_tokenizer", SEARCHING),
        ("pre_tokenizer", {"type": "Sequence", "pretokenizers": [SEARCHING, BYTES]}),
        ("pre_tokenizer", BYTES | {"add_prefix_space": True}),
        ("pre_tokenizer", BYTES | {"use_regex": False}),
        ("pre_tokenizer", None),
        ("decoder", {"type": "Replace", "pattern": {"String": "a"}, "content": "b"}),
        ("decoder", None),
        ("post_processor", {"type": "TemplateProcessing", "single": [], "pair": []}),
        ("model", {"type": "WordLevel", "vocab": {"<unk>": 0}, "unk_token": "<unk>"}),
        ("model", []),
        ("more", 1),
    ],
)
def test_a_tokenizer_has_only_parts_that_are_allowed(run, tmp_path, part, value):
    def replaced(record):
        inner = json.loads(record["tokenizer"]) | {part: value}
        record["tokenizer"] = json.dumps(inner)

    with pytest.raises(SeriatimError, match=r"codec\.json"):
        st.load(changed(run, tmp_path / "run", "codec.json", replaced))


@pytest.mark.parametrize(
    "key, value",
    [
        ("dropout", 0.5),
        ("byte_fallback", 1),
        ("end_of_word_suffix", "x"),
        ("merges", [["a"]]),
        ("vocab", {"a": 1 << 40}),
        ("vocab", {"a": "b"}),
        ("merges", [1]),
    ],
)
def test_the_model_of_a_tokenizer_is_checked(run, key, value):
    inner = json.loads(json.loads((run / "codec.json").read_bytes())["tokenizer"])
    with pytest.raises(ValueError, match="tokenizer"):
        checked(json.dumps(inner | {"model": inner["model"] | {key: value}}))


def test_what_others_wrote_for_their_own_programs_is_left_out_of_theirs(run):
    source = json.loads((run / "codec.json").read_bytes())["tokenizer"]
    inner = json.loads(source) | {"padding": PADDED, "truncation": CUT_SHORT}
    assert json.loads(checked(json.dumps(inner), ours=False)) == json.loads(checked(source))


# -- manifests and metrics
@pytest.mark.parametrize("name", ["", "..", "a\0b", "../x", "nothere", "/etc/passwd", "."])
@pytest.mark.parametrize("entry", [{}, {"sha256": "0" * 64, "bytes": 1}, None, [1]])
def test_a_manifest_names_files_and_nothing_else(run, tmp_path, name, entry):
    def more(manifest):
        manifest["files"][name] = entry

    with pytest.raises(RunError, match=r"manifest\.json is damaged|not the file"):
        st.load(changed(run, tmp_path / "run", "manifest.json", more))


@pytest.mark.parametrize(
    "record",
    [[], [1], 1, "x", {"files": []}, {"files": {"config.toml": 1}}, {"format": 2, "files": {}}],
)
def test_a_manifest_is_a_table_of_files(run, tmp_path, record):
    with pytest.raises(RunError, match=r"manifest\.json is damaged"):
        st.load(changed(run, tmp_path / "run", "manifest.json", lambda _: record))


@pytest.mark.parametrize(
    "record",
    [
        [1],
        1,
        "x",
        {"seconds": "a"},
        {"search": 1},
        {"search": {"beam": -1}},
        {"search": {"x": 1}},
        {"search": {"beam": 10**9}},
        {"said": ["a"]},
        {"weights": {"a": 1}},
        {"updates": 1.5},
        {"x": [[[[[[[[[[1]]]]]]]]]]},
    ],
)
def test_metrics_are_what_verbs_ask_for(translator, tmp_path, record):
    with pytest.raises(RunError, match=r"metrics\.json"):
        st.load(changed(translator, tmp_path / "run", "metrics.json", lambda _: record))


def test_metrics_that_a_room_must_have(tmp_path):
    rows = "".join(f"{'ab'[i % 2]}\tx y z {i}\n" for i in range(40))
    (tmp_path / "train.tsv").write_text("label\ttext\n" + rows)
    settings = {"condition": "label", "updates": 1, "width": 4, "rows": 4, "unit": "word"}
    out = tmp_path / "run"
    st.fit("autoencode", "gru", tmp_path / "train.tsv", out=out, **settings)
    st.load(out)
    for change in (
        lambda metrics: metrics.pop("shares") and None,
        lambda metrics: metrics["shares"].update(label=[0.5, 0.6]),
        lambda metrics: metrics["shares"].update(label=[1.0]),
        lambda metrics: metrics["vectors"]["mean"].append(1.0),
    ):
        with pytest.raises(RunError, match=r"metrics\.json"):
            st.load(changed(out, tmp_path / "other", "metrics.json", change))


# -- sizes
@pytest.fixture(scope="module")
def network(tmp_path_factory) -> Path:
    """A small network."""
    folder = tmp_path_factory.mktemp("network")
    (folder / "train.txt").write_text(prose(30, 1))
    settings = {"updates": 1, "width": 4, "rows": 2, "length": 8}
    st.fit("language", "convolution", folder / "train.txt", out=folder / "run", **settings)
    return folder / "run"


@pytest.mark.parametrize(
    "key, value",
    [("width", 65536), ("layers", 1000), ("kernel", 1024), ("width", 10**12), ("layers", -1)],
)
def test_no_setting_makes_a_model_larger_than_its_weights(network, tmp_path, key, value):
    run = copied(network, tmp_path / "run")
    words = (run / "config.toml").read_text()
    assert f"\n{key} = " in words
    (run / "config.toml").write_text(re.sub(rf"\n{key} = .*", f"\n{key} = {value}", words))
    sign(run)
    with pytest.raises(SeriatimError, match=r"does not fit together|must be"):
        st.load(run)


# -- what the campaign found in weights
def test_tables_are_counted_on_all_levels_or_on_none(run, tmp_path):
    copy = copied(run, tmp_path / "run")
    arrays, record = read_arrays(copy / "weights.safetensors")
    write_arrays(
        copy / "weights.safetensors", arrays | {"counts.2": arrays["counts.2"][:0]}, record
    )
    sign(copy)
    with pytest.raises(RunError, match="counted"):
        st.load(copy)


def test_probabilities_that_are_no_numbers_are_not_sampled():
    with pytest.raises(RunError, match="not numbers"):
        Categorical(torch.tensor([[float("nan"), 0.0]])).sample()


def test_the_radius_of_what_is_no_number():
    with pytest.raises(RunError, match="not numbers"):
        radius(torch.full((3, 3), float("nan"), dtype=torch.float64))
    assert radius(2 * torch.eye(3, dtype=torch.float64)) == 2


def test_surprisal_of_what_is_no_number(run):
    model = st.load(run)
    model.model.tables.log_p[0][:] = np.nan
    model.model.tables.log_p[1][:] = np.nan
    record = model.surprisal(["the cat"])
    assert record["bits"] is None and record["tokens"][0]["bits"] is None


# -- shapes
@pytest.mark.parametrize(
    "shape, good, bad",
    [
        (whole(1, 3), [1, 3], [0, 4, True, 1.0, "1", None]),
        (real(0), [0, 1.5], [-1, float("nan"), float("inf"), True, "1", 10**400]),
        (text("[a-z]+", 3), ["abc"], ["", "abcd", "A", "a\n", 1]),
        (among(1, None), [1, None], [True, 1.0, 2]),
        (optional(whole()), [None, 1], ["1"]),
        (listed(whole(), 1, 2), [[1], [1, 2]], [[], [1, 2, 3], (1,), ["a"]]),
        (
            mapping(whole(), text("a*"), 1),
            [{}, {"a": 1}],
            [{"b": 1}, {"a": "x"}, [], {"": 1, "a": 1}],
        ),
        (table({"a": whole()}, {"b": whole()}), [{"a": 1}], [{}, {"a": 1, "c": 1}, {"b": 1}, []]),
        (plain, [{"a": [1, None, "x"]}], [[float("inf")], 10**20, json.loads("[" * 20 + "]" * 20)]),
    ],
)
def test_shapes(shape, good, bad):
    for value in good:
        check(value, shape)
    for value in bad:
        with pytest.raises(ValueError, match="must be"):
            check(value, shape, "place")
