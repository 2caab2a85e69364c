"""Tags of sequences of numbers: a tag for each step, every rung, both ways and one way."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

import seriatim as st
from seriatim.batches import Batch, empty
from seriatim.data.sequences import NUMBERS, Field
from seriatim.errors import ConfigError, DataError
from seriatim.models.base import asked
from seriatim.tasks.labels.codec import Examples
from seriatim.tasks.labels.models.network import SequenceLabeller
from seriatim.tasks.tag.models.hmm import HmmTagger
from seriatim.tasks.tag.options import HmmOptions

QUICK = {"width": 16, "embedding": 8, "dropout": 0.0, "threads": 1, "rate": 1e-2}


def echoes(count: int, seed: int = 0) -> tuple[list[np.ndarray], list[list[str]]]:
    """Steps of two numbers; the tag of each is the sign of the first number one step before."""
    dice = np.random.default_rng(seed)
    rows = [dice.standard_normal((dice.integers(2, 12), 2)) for _ in range(count)]
    tags = [["up" if sign else "down" for sign in [False, *(row[:-1, 0] > 0)]] for row in rows]
    return rows, tags


def clouds(count: int, seed: int = 0) -> tuple[list[np.ndarray], list[list[str]]]:
    """Steps of two numbers around a middle that each tag has."""
    dice = np.random.default_rng(seed)
    names = ["a", "b", "c"]
    drawn = [dice.integers(0, 3, dice.integers(1, 9)) for _ in range(count)]
    rows = [
        np.stack([4.0 * row, -row + 7.0], 1) + dice.normal(0, 0.3, (len(row), 2)) for row in drawn
    ]
    return rows, [[names[i] for i in row] for row in drawn]


def written(path: Path, rows: list[np.ndarray], tags: list[list[str]] | None) -> Path:
    """As JSON lines."""
    with path.open("w") as file:
        for place, row in enumerate(rows):
            line = {"values": row.tolist()} | ({} if tags is None else {"tags": tags[place]})
            file.write(json.dumps(line) + "\n")
    return path


def test_a_network_learns_what_a_step_before_said_and_files_and_memory_are_read_alike(tmp_path):
    data = echoes(120)
    file = written(tmp_path / "train.jsonl", *data)
    model = st.fit("tag", "gru", data, echoes(30, 2), updates=150, **QUICK)
    test = echoes(30, 1)
    found = model.evaluate(test)
    assert found["accuracy"] > 0.95 and found["protocol"]["channels"] == 2
    assert found["known_words"] == {"accuracy": None, "words": 0}
    again = st.fit("tag", "gru", file, echoes(30, 2), updates=150, out=tmp_path / "run", **QUICK)
    other = written(tmp_path / "test.jsonl", test[0], None)
    items = st.load(tmp_path / "run").predict(other)["items"]
    assert items == model.predict(test[0])["items"] == again.predict(other)["items"]
    assert items[0]["tokens"] == [str(step + 1) for step in range(len(test[0][0]))]
    assert len(items[0]["tags"]) == len(test[0][0])


def test_counting_rungs_know_the_commonest_tag_and_a_normal_distribution_of_each(tmp_path):
    train, test = clouds(60), clouds(30, 1)
    model = st.fit("tag", "most-frequent", train)
    tags = [tag for row in train[1] for tag in row]
    commonest = max(set(tags), key=tags.count)
    found = model.evaluate(test)
    assert found["accuracy"] == found["majority"]
    assert {tag for item in model.predict(test[0])["items"] for tag in item["tags"]} == {commonest}
    hmm = st.fit("tag", "hmm", train, out=tmp_path / "run")
    assert hmm.evaluate(test)["accuracy"] > 0.98
    again = st.load(tmp_path / "run")
    assert again.best(test[0])["items"] == hmm.best(test[0])["items"]


def test_the_normals_of_hmm_by_hand():
    x = Field(np.array([[1.0], [3.0], [-2.0]], np.float32), np.array([0, 3]), NUMBERS)
    y = Field(np.array([0, 0, 1], np.int32), np.array([0, 3]), NUMBERS)
    model = HmmTagger(1, HmmOptions(), 2, channels=1)
    for _ in model.counting(Examples(x, y)):
        pass
    mean, variance = model.normals[..., 0].tolist()
    # of the first tag 1 and 3 and a step of weight one at 0, with variance 1
    assert mean == pytest.approx([4 / 3, -1.0])
    squares = (1 - 4 / 3) ** 2 + (3 - 4 / 3) ** 2
    assert variance == pytest.approx([(squares + 1) / 3, (1.0 + 1) / 2])
    batch = Batch(torch.tensor([[[0.5]]]), torch.tensor([1]), empty(1), empty(1).bool())
    said = torch.distributions.Normal(torch.tensor(mean), torch.tensor(variance).sqrt())
    assert torch.allclose(model.emitted(batch)[0, 0].float(), said.log_prob(torch.tensor(0.5)))


@pytest.mark.parametrize("name", ["window", "convolution", "rnn", "gru", "lstm", "transformer"])
@pytest.mark.parametrize("numbers", [True, False])
def test_one_way_no_tag_depends_on_what_comes_later(name, numbers):
    """The matched network: y_t of x_j with j <= t alone, beside what counts, too."""
    settings = {"width": 8, "embedding": 6, "updates": 5, "threads": 1, "bidirectional": False}
    rows, tags = echoes(40)
    if not numbers:
        rows = [["up" if x > 0 else "down" for x in row[:, 0]] for row in rows]
        settings["letter_width"] = 4
    model = st.fit("tag", name, (rows, tags), (rows[:9], tags[:9]), **settings)
    whole = next(row for row in rows if len(row) > 6)
    changed = [*whole[:4], *whole[4:][::-1]]
    other = np.stack(changed) * ([[1.0]] * 4 + [[-3.0]] * (len(whole) - 4)) if numbers else changed
    said = [model.predict([each])["items"][0] for each in (whole, other)]
    for first, second in zip(*(zip(each["tags"][:4], each["probabilities"]) for each in said)):
        assert first[0] == second[0] and first[1] == pytest.approx(second[1], abs=1e-6)
    assert not numbers or not np.allclose(
        said[0]["probabilities"][4:], said[1]["probabilities"][4:]
    )


def test_both_ways_and_one_way_differ_in_what_they_can_know():
    """Tags of the step after are heard both ways, and not one way."""
    rows, tags = echoes(120)
    turned = [row[::-1].copy() for row in rows], [row[::-1] for row in tags]
    test = [row[::-1].copy() for row in echoes(30, 1)[0]], [row[::-1] for row in echoes(30, 1)[1]]
    both, one = (
        st.fit("tag", "gru", turned, test, updates=200, bidirectional=each, **QUICK)
        for each in (True, False)
    )
    assert both.evaluate(test)["accuracy"] > 0.9 > 0.75 > one.evaluate(test)["accuracy"]


def test_long_tables_give_series_with_the_tag_of_each_row(tmp_path):
    rows, tags = clouds(30)
    lines = [
        f"{s},{t},{x},{y},{tag}"
        for s, (row, said) in enumerate(zip(rows, tags))
        for t, ((x, y), tag) in enumerate(zip(row.tolist(), said))
    ]
    np.random.default_rng(0).shuffle(lines)
    file = tmp_path / "long.csv"
    file.write_text("\n".join(["who,time,first,second,state", *lines]) + "\n")
    asked = {"series": "who", "channels": "first,second", "label": "state"}
    model = st.fit("tag", "hmm", file, time="time", out=tmp_path / "run", **asked)
    found = st.load(tmp_path / "run").evaluate(file)
    assert found["accuracy"] > 0.98 and found["sequences"] == 30
    assert model.codec.channels == 2
    with pytest.raises(ConfigError, match="what is put into gaps has no tags"):
        st.fit("tag", "hmm", file, fill="linear", **asked)


def test_compare_reads_numbers():
    record = st.compare("tag", clouds(60), "most-frequent,hmm")
    assert [row["model"] for row in record["rows"]] == ["hmm", "most-frequent"]


def test_what_is_wrong_is_said_in_words(tmp_path):
    rows, tags = clouds(20)
    short = [[*row] for row in tags]
    short[3] = short[3][:-1]
    file = written(tmp_path / "short.jsonl", rows, short)
    with pytest.raises(DataError, match=r":4: .*not as many tags as steps.*Give every step"):
        st.fit("tag", "hmm", file)
    with pytest.raises(ConfigError, match="no words to be read letter by letter"):
        st.fit("tag", "gru", (rows, tags), letters="affixes", updates=1, **QUICK)
    model = st.fit("tag", "hmm", (rows, tags))
    with pytest.raises(DataError, match="2 channels"):
        model.predict([np.ones((3, 3))])
    with pytest.raises(DataError, match="not the numbers this model was trained on"):
        model.predict([["a", "b"]])


def test_whole_numbers_in_memory_are_symbols_unless_numbers_are_read():
    ids = [[1, 2, 1], [2, 2, 1]] * 5
    tags = [["a", "b", "a"], ["b", "b", "a"]] * 5
    assert st.fit("tag", "hmm", (ids, tags)).codec.channels == 0
    real = [[0.5, 2.5, 0.5], [2.5, 2.5, 0.5]] * 5
    model = st.fit("tag", "hmm", (real, tags))
    assert model.codec.channels == 1
    assert model.predict([[1, 2, 1]])["items"][0]["tags"] == ["a", "b", "a"]


def test_a_network_of_numbers_has_no_letters():
    model = st.fit("tag", "lstm", clouds(30), clouds(9, 1), updates=1, **QUICK)
    network = next(part for part in model.model.parts if isinstance(part, SequenceLabeller))
    assert network.letters is None and network.options.letters == "no"
    assert asked(model.model) is not None
