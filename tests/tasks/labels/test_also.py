"""Several symbolic channels in one model: fields that are read beside the words."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import torch

import seriatim as st
from seriatim.errors import ConfigError, DataError, RunError
from seriatim.tasks.labels.codec import of_examples
from seriatim.tasks.labels.models.network import SequenceLabeller
from tests.terminal import good

QUICK = {"width": 16, "embedding": 8, "dropout": 0.0, "threads": 1, "rate": 1e-2}
SHORT = QUICK | {"updates": 80, "letter_width": 8}
NAMES = {"ART": "one", "NOUN": "two", "VERB": "three"}


def channels(count: int, seed: int = 0) -> dict[str, list[list[str]]]:
    """Words that say nothing, and beside each a kind, which is all that its tag depends on."""
    dice, found = random.Random(seed), {"tokens": [], "kind": [], "tags": []}
    for _ in range(count):
        many = dice.randint(1, 7)
        kinds = dice.choices(list(NAMES), k=many)
        row = dice.choices("abcdef", k=many), kinds, [NAMES[kind] for kind in kinds]
        for column, each in zip(found.values(), row, strict=True):
            column.append(each)
    return found


def without(data: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: column for name, column in data.items() if name not in names}


def conllu(data: dict[str, list[list[str]]]) -> str:
    """The words, their kinds as universal tags and their tags as those of the language."""
    lines = []
    for sentence in zip(*data.values(), strict=True):
        for place, (word, kind, tag) in enumerate(zip(*sentence), 1):
            lines.append(f"{place}\t{word}\t_\t{kind}\t{tag}\t_\t0\t_\t_\t_")
        lines.append("")
    return "\n".join(lines) + "\n"


def test_a_tag_that_depends_on_the_second_channel_is_learned_with_it_and_not_without(tmp_path):
    train, valid, test = channels(80), channels(20, 2), channels(30, 1)
    model = st.fit("tag", "gru", train, valid, also="kind", out=tmp_path / "run", **SHORT)
    alone = st.fit("tag", "gru", train, valid, **SHORT)
    assert model.evaluate(test)["accuracy"] > 0.95 > 0.6 > alone.evaluate(test)["accuracy"]
    again = st.load(tmp_path / "run")
    asked = without(test, "tags")
    items = model.predict(asked)["items"]
    assert again.predict(asked)["items"] == items
    for place in (0, 7):  # whatever stands beside it
        one = {name: [column[place]] for name, column in asked.items()}
        assert again.predict(one)["items"][0]["tags"] == items[place]["tags"]


@pytest.mark.parametrize(
    ("task", "spec"), [("classify", "mean"), ("classify", "lstm"), ("tag", "transformer")]
)
def test_networks_of_labels_and_tags_read_two_further_fields(task, spec, tmp_path):
    data = channels(80)
    data["echo"] = [row[::-1] for row in data["kind"]]
    if task == "classify":
        data = without(data, "tags") | {"label": [row[0] for row in data["kind"]]}
        settings = {"width": 16, "dropout": 0.0, "threads": 1, "rate": 1e-2, "updates": 40}
    else:
        settings = SHORT | {"updates": 40, "heads": 2}
    model = st.fit(task, spec, data, also="kind,echo", out=tmp_path / "run", **settings)
    assert list(model.codec.also) == ["kind", "echo"]
    assert st.load(tmp_path / "run").predict(data)["items"] == model.predict(data)["items"]
    network = next(each for each in model.model.parts if isinstance(each, SequenceLabeller))
    assert [table.num_embeddings for table in network.beside_words] == [
        each.size for each in model.codec.also.values()
    ]


def test_vectors_stand_side_by_side():
    """x_t = [E w_t ; E' c_t], brought to the width of the stack."""
    model = st.fit(
        "tag", "rnn", channels(30), also="kind", letters="no", **(QUICK | {"updates": 2})
    )
    network = next(each for each in model.model.parts if isinstance(each, SequenceLabeller))
    examples = model.codec.encode(model.data(channels(3, 5)))
    batch = of_examples(examples, torch.arange(3).numpy())
    with torch.no_grad():
        both = torch.cat(
            [network.embedding(batch.x), network.beside_words[0](batch.further[..., 0])], -1
        )
        assert torch.equal(network.embedded(batch), network.inward(both))
    assert batch.further.shape == (*batch.x.shape, 1) and both.shape[-1] == 8 + 32
    known = model.codec.also["kind"].number
    assert batch.further[0, 0, 0] == known[channels(3, 5)["kind"][0][0]]


def test_columns_of_conllu_are_read_and_a_file_is_annotated(tmp_path):
    file, run = tmp_path / "train.conllu", str(tmp_path / "run")
    file.write_text(conllu(channels(80)))
    settings = [f"--{key.replace('_', '-')}={value}" for key, value in SHORT.items()]
    columns = ("--columns", "form,xpos,upos", "--also", "upos")
    good("fit", "tag", "gru", str(file), "--out", run, *columns, *settings)
    (tmp_path / "test.conllu").write_text(conllu(channels(30, 1)))
    record = good("evaluate", run, str(tmp_path / "test.conllu"), "--format", "json").json()
    assert record["accuracy"] > 0.95
    lines = good("predict", run, str(tmp_path / "test.conllu")).out.splitlines()
    assert lines[0].split("\t") == [channels(30, 1)["tokens"][0][0], channels(30, 1)["tags"][0][0]]


def test_lists_in_jsonl_and_words_between_blanks_are_fields(tmp_path):
    data = channels(40)
    (tmp_path / "a.jsonl").write_text(
        "".join(json.dumps(dict(zip(data, row))) + "\n" for row in zip(*data.values(), strict=True))
    )
    joined = [
        ",".join(" ".join(cells) for cells in row) for row in zip(*data.values(), strict=True)
    ]
    (tmp_path / "a.csv").write_text("\n".join([",".join(data), *joined]) + "\n")
    first, second, third = (
        st.fit("tag", "window", form, also="kind", **(SHORT | {"updates": 5}))
        for form in (tmp_path / "a.jsonl", tmp_path / "a.csv", data)
    )
    asked = without(data, "tags")
    said = first.predict(asked)["items"]
    assert said == second.predict(asked)["items"] == third.predict(asked)["items"]


def test_what_counts_reads_no_further_fields(tmp_path):
    data = channels(30)
    for spec in ("hmm", "most-frequent"):
        with pytest.raises(ConfigError, match=f"'also' is not a setting of {spec}"):
            st.fit("tag", spec, data, also="kind")
    with pytest.raises(ConfigError, match=r"a model that counts reads no further fields.*hmm"):
        st.fit("tag", "hmm+gru", data, also="kind")
    mixed = st.fit("tag", "rnn+window", data, also="kind", **(SHORT | {"updates": 2}))
    assert len(mixed.predict(without(data, "tags"))["items"]) == 30


def test_what_is_missing_or_too_long_is_said(tmp_path: Path):
    data, settings = channels(30), SHORT | {"updates": 1}
    model = st.fit("tag", "rnn", data, also="kind", **settings)
    with pytest.raises(DataError, match="no field 'kind', which is to be read beside the words"):
        model.predict(without(data, "tags", "kind"))
    with pytest.raises(DataError, match="no field 'mood'"):
        st.fit("tag", "rnn", data, also="mood", **settings)
    with pytest.raises(ConfigError, match="a field is read once"):
        st.fit("tag", "rnn", data, also="kind,kind", **settings)
    rows = [dict(zip(data, row)) for row in zip(*data.values(), strict=True)]
    rows[4]["kind"] = [*rows[4]["kind"], "ART"]
    file = tmp_path / "odd.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    many = len(rows[4]["tokens"])
    with pytest.raises(DataError, match=rf":5: .*'kind' has not as many.*{many + 1} and {many}"):
        st.fit("tag", "rnn", file, also="kind", **settings)
    numbers = {
        "values": [[[1.0], [2.0]]] * 20,
        "tags": [["a", "b"]] * 20,
        "kind": [["x", "y"]] * 20,
    }
    with pytest.raises(ConfigError, match="these are numbers"):
        st.fit("tag", "rnn", numbers, valid=numbers, also="kind", **settings | {"letters": "no"})


def test_a_run_whose_fields_were_changed_is_refused(tmp_path):
    st.fit(
        "tag", "rnn", channels(30), also="kind", out=tmp_path / "run", **(SHORT | {"updates": 1})
    )
    file = tmp_path / "run" / "codec.json"
    record = json.loads(file.read_text())
    assert [name for name, _ in record["also"]] == ["kind"]
    file.write_text(json.dumps({key: value for key, value in record.items() if key != "also"}))
    with pytest.raises((RunError, ConfigError)):
        st.load(tmp_path / "run", verify=False)
