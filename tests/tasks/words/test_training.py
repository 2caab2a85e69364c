"""Fitting word vectors: the same bits when asked, resumed to the same bits, and words that keep company end up close."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seriatim import fit, load
from seriatim.data.sequences import Sequences
from seriatim.errors import ConfigError, DataError
from seriatim.models.recipe import TrainingOptions
from seriatim.progress import listening
from seriatim.tasks import task as room
from seriatim.tasks.words.cut import WordsLesson
from seriatim.tasks.words.models.glove import pairs_of
from seriatim.tasks.words.models.vectors import Vectors
from seriatim.tasks.words.options import VectorsOptions
from seriatim.tasks.words.predictor import WordPredictor
from seriatim.tasks.words.training import loop_of, put_together
from seriatim.verbs import run


def fit_events(task, model, train, valid=None, *, out=None, resume=False, settings):
    """A fit as a generator of events."""
    kept = {} if out is None else {"out": str(out), "resume": resume}
    return run("fit", task, train, model=model, valid=valid, **kept, **settings)


def found(record: dict) -> list[tuple[str, float]]:
    """Words with their cosines or probabilities."""
    return [(each["word"], each.get("cosine", each.get("probability"))) for each in record["found"]]


def corpus(lines: int = 3000) -> Sequences:
    """Two worlds of words that never meet: animals and tools."""
    rng = np.random.default_rng(0)
    worlds = (
        ["cat", "dog", "cow", "hen", "eats", "sleeps"],
        ["saw", "axe", "drill", "file", "cuts", "bores"],
    )
    rows = [" ".join(rng.choice(worlds[rng.integers(2)], 8)) for _ in range(lines)]
    return Sequences.of(rows, by="line", unit="word")


SMALL = {"width": 12, "subsample": 0.0, "epochs": 3, "threads": 2}


def bits(model) -> bytes:
    return b"".join(array.numpy().tobytes() for array in model.model.arrays().values())


@pytest.mark.parametrize(
    "settings",
    [
        {},
        pytest.param({"output": "softmax"}, marks=pytest.mark.slow),
        {"output": "hierarchical"},
        {"subwords": "2,3", "buckets": 50},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["skip-gram", "cbow", "predictor", "glove"])
def test_words_of_one_world_end_up_close(name, settings):
    if name == "glove":
        if settings:
            pytest.skip("glove has one output")
        settings = {"width": 12, "epochs": 20, "threads": 2}
    else:
        settings = {"rate": 0.1} | SMALL | settings
    model = fit("words", name, corpus(), **settings)
    assert {word for word, _ in found(model.neighbours("cat", top=5))} == {
        "dog",
        "cow",
        "hen",
        "eats",
        "sleeps",
    }
    assert {
        word
        for word, _ in found(
            model.missing("saw * drill" if name != "predictor" else "saw *", top=6)
        )
    } == {"saw", "axe", "drill", "file", "cuts", "bores"}


def test_pairs_are_counted_by_their_distance():
    text = np.array([2, 3, 2, -1, 3, 4], np.int32)
    *_, (share, (first, second, weight)) = pairs_of(text, 2, 5)
    counted = {
        (i, j): x for i, j, x in zip(first.tolist(), second.tolist(), weight.tolist(), strict=True)
    }
    assert share == 1 and counted == {(2, 3): 2.0, (2, 2): 1.0, (3, 4): 1.0}
    rng = np.random.default_rng(0)
    long = rng.integers(2, 9, 3000).astype(np.int32)
    slow: dict = {}
    for place in range(len(long)):
        for distance in range(1, min(4, place) + 1):
            key = tuple(sorted((int(long[place]), int(long[place - distance]))))
            slow[key] = slow.get(key, 0) + (2 if key[0] == key[1] else 1) / distance
    *_, (_, (first, second, weight)) = pairs_of(long, 4, 9)
    assert {
        (int(i), int(j)): pytest.approx(float(x), rel=1e-4)
        for i, j, x in zip(first, second, weight, strict=True)
    } == slow


def test_glove_multiplies_to_the_logarithm_of_the_counts():
    model = fit("words", "glove", corpus(), width=12, epochs=400, rate=0.1, threads=1)
    *_, (_, (first, second, weight)) = pairs_of(
        WordsLesson(*(encoded(model, corpus()),) * 2, "line", model.codec).text,
        10,
        model.model.vocabulary,
    )
    inputs, outputs = model.model.inputs.numpy(), model.model.outputs.numpy()
    products = (
        (inputs[first, :-1] * outputs[second, :-1]).sum(1) + inputs[first, -1] + outputs[second, -1]
    )
    assert np.abs(products - np.log(weight)).mean() < 0.1


def encoded(model, data):
    return model.codec.encode(data.main)


@pytest.mark.parametrize(
    "name, settings",
    [
        ("skip-gram", {}),
        ("cbow", {}),
        ("predictor", {"window": 1}),
        ("cbow", {"subwords": (2, 3), "buckets": 30}),
        ("skip-gram", {"subwords": (2, 3), "buckets": 30}),
    ],
    ids=str,
)
def test_against_all_words_a_step_goes_down_the_exact_gradient(name, settings):
    words = ["<unk>", "</s>", "the", "cat", "sat", "on"]
    text = np.array([2, 3] if name == "predictor" else [2, 3, 4, 4], np.int32)

    class Task:
        counts = np.array([0, 0, 3, 2, 2, 1])

    Task.text = Task.held = text
    Task.words = words
    options = VectorsOptions(
        **{"width": 5, "window": 2, "dynamic_window": False, "subsample": 0.0, "output": "softmax"}
        | settings
    )
    model = Vectors(len(words), options, name)
    loop = loop_of(model, Task(), TrainingOptions(rate=1.0, updates=1), None)
    model.begin(Task.counts, 0)
    model.inputs.normal_(generator=torch.Generator().manual_seed(1))
    model.outputs.normal_(generator=torch.Generator().manual_seed(2))
    list(loop.prepare())
    loop.together = 64
    inputs, outputs = model.inputs.clone().requires_grad_(), model.outputs.clone().requires_grad_()
    tables, loss = model.tables(words), 0.0
    for centre in range(len(text)):
        near = (
            text[max(0, centre - 1) : centre]
            if name == "predictor"
            else np.concatenate([text[max(0, centre - 2) : centre], text[centre + 1 : centre + 3]])
        )
        means = [
            inputs[
                tables.parts[tables.part_offsets[word] : tables.part_offsets[word + 1]].tolist()
            ].mean(0)
            for word in near
        ]
        for hidden in (
            means if name == "skip-gram" else [torch.stack(means).mean(0)] if means else []
        ):
            loss = loss - torch.log_softmax((outputs @ hidden)[2:], 0)[int(text[centre]) - 2]
    loss.backward()
    before, totals = [model.inputs.clone(), model.outputs.clone()], np.zeros(3)
    loop.read(0, len(text), loop.arrays(), np.float32(1.0), np.array([1], np.uint64), totals)
    assert totals[0] == pytest.approx(loss.item(), rel=1e-5)
    assert torch.allclose(before[0] - model.inputs, inputs.grad, atol=1e-5) and torch.allclose(
        before[1] - model.outputs, outputs.grad, atol=1e-5
    )


def test_the_same_seed_and_number_of_threads_give_the_same_bits():
    first, second, other = (
        fit("words", "skip-gram", corpus(), deterministic=True, seed=seed, **SMALL)
        for seed in (1, 1, 2)
    )
    assert bits(first) == bits(second) != bits(other)


@pytest.mark.parametrize("name", ["cbow", "glove"])
def test_a_fit_that_was_stopped_resumes_to_the_same_bits(name, tmp_path):
    settings = {"deterministic": True, "checkpoint_seconds": 0} | {
        key: value for key, value in SMALL.items() if name != "glove" or key != "subsample"
    }
    whole = fit("words", name, corpus(), **settings)
    events = fit_events("words", name, corpus(), out=tmp_path / "run", settings=settings)
    for event in events:
        if event["event"] == "validation" and event["step"] >= 3:
            break
    events.close()
    again = fit("words", name, corpus(), out=tmp_path / "run", resume=True, **settings)
    assert bits(again) == bits(whole)


def test_changes_of_all_threads_are_added_up():
    before = np.array([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]], np.float32)
    first, second = before.copy(), before.copy()
    first[0] = [2.0, 0.0]
    second[0] = [0.0, 4.0]
    second[1] = [3.0, 1.0]
    put_together(before, (first, second))
    assert before.tolist() == [[2.0, 4.0], [3.0, 1.0], [5.0, 5.0]]


def test_a_subword_model_has_vectors_for_words_it_never_saw():
    model = fit("words", "skip-gram", corpus(), rate=0.1, subwords="2,3", buckets=200, **SMALL)
    assert "cats" not in model.words.number
    assert {word for word, _ in found(model.neighbours("cats", top=3))} <= {
        "cat",
        "dog",
        "cow",
        "hen",
        "eats",
        "sleeps",
    }
    answers = found(model.analogy("cats - dogs + hens", top=3))
    both = (
        model.vector("cats") / np.linalg.norm(model.vector("cats")),
        model.vector("dogs") / np.linalg.norm(model.vector("dogs")),
    )
    third = model.vector("hens") / np.linalg.norm(model.vector("hens"))
    assert answers == [
        (word, pytest.approx(cosine, abs=1e-5))
        for word, cosine in model.words.neighbours(both[0] - both[1] + third, 3)
    ]
    assert found(model.direction("dogs cats : hens", top=3)) == [
        (word, pytest.approx(cosine, abs=1e-5)) for word, cosine in answers
    ]
    assert found(model.odd("cats dogs saws"))[0][0] == "saws" and "cats" not in model.words.number
    plain = fit("words", "skip-gram", corpus(300), **SMALL)
    for asked in (plain.neighbours, plain.vector, plain.analogy):
        with pytest.raises(DataError, match="vector for this word"):
            asked("cats")


def test_unknown_words_and_files_without_an_output_layer_are_refused(tmp_path):
    model = fit("words", "glove", corpus(300), width=12, epochs=2, threads=1)
    with pytest.raises(DataError, match="vector for this word"):
        model.neighbours("zebra")
    assert "cat" not in [word for word, _ in found(model.neighbours("Cat"))]
    model.export(out=tmp_path / "v.txt")
    with pytest.raises(ConfigError, match="output layer"):
        load(tmp_path / "v.txt").missing("cat * dog")


def test_a_missing_word_is_guessed_by_its_probability_not_by_how_it_differs_from_its_frequency():
    rng = np.random.default_rng(0)
    rows = [" ".join(["red" if rng.random() < 0.9 else "blue", "car"]) for _ in range(4000)]
    train, valid = (
        Sequences.of(part, by="line", unit="word") for part in (rows[:3900], rows[3900:])
    )
    model = fit(
        "words",
        "skip-gram",
        train,
        valid,
        width=8,
        window=1,
        subsample=0.0,
        rate=0.05,
        epochs=10,
        threads=1,
    )
    chances = dict(found(model.missing("* car", top=3)))
    assert chances["red"] > 0.7 and chances["red"] > 3 * chances["blue"]


def test_models_of_other_tasks_are_refused():
    for task, name in (("words", "lstm"), ("language", "cbow"), ("words", "cbow+skip-gram")):
        with pytest.raises(ConfigError):
            fit(task, name, corpus(100))


def test_a_network_begins_with_given_vectors_frozen_or_not(tmp_path):
    words = fit("words", "skip-gram", corpus(300), out=tmp_path / "vectors", **SMALL)
    words.export(out=tmp_path / "vectors.vec")
    settings = {
        "unit": "word",
        "updates": 3,
        "width": 12,
        "rows": 2,
        "length": 8,
        "word_vectors": str(tmp_path / "vectors"),
    }
    still = fit("language", "lstm", corpus(300), frozen=True, **settings)
    moved = fit(
        "language",
        "lstm",
        corpus(300),
        **settings | {"word_vectors": str(tmp_path / "vectors.vec")},
    )
    number = still.codec.number["cat"]
    begun, wanted = still.model.embedding.weight[number].detach().numpy(), words.vector("cat")
    assert begun @ wanted == pytest.approx(
        np.linalg.norm(begun) * np.linalg.norm(wanted), rel=1e-5
    )  # the same direction
    assert 0.3 < np.sqrt((still.model.embedding.weight[2:-1].detach().numpy() ** 2).mean()) < 3
    assert not torch.equal(
        moved.model.embedding.weight[number], still.model.embedding.weight[number]
    )
    with pytest.raises(ConfigError, match="width=12"):
        fit("language", "lstm", corpus(300), **settings | {"width": 16})
    with pytest.raises(ConfigError, match='unit="word"'):
        fit("language", "lstm", corpus(300), **settings | {"unit": "character"})


@pytest.mark.parametrize("name", ["skip-gram", "glove"])
def test_a_file_of_questions_is_watched_with_every_validation(name, tmp_path):
    (tmp_path / "analogies.txt").write_text(": worlds\ncat dog saw axe\nsaw axe cat dog\n")
    (tmp_path / "similarity.csv").write_text("cat,dog,9\ncat,saw,1\naxe,file,8\nhen,drill,2\n")
    for file, key in (("analogies.txt", "analogies"), ("similarity.csv", "similarity")):
        events = fit_events(
            "words",
            name,
            corpus(300),
            settings={"width": 8, "epochs": 4, "threads": 1, "rate": 0.1, "watch": tmp_path / file},
        )
        seen, fitted = followed(events)
        assert len(seen) > 3 and all(event.keys() >= {key, "valid"} for event in seen)
        record = fitted.evaluate(tmp_path / file)
        assert (
            seen[-1][key] == record["accuracy" if key == "analogies" else "spearman"]
        )  # of the vectors as they are then


def followed(events) -> tuple[list[dict], WordPredictor]:
    """The validations of a fit, and what was fitted."""
    seen = []
    while True:
        try:
            event = next(events)
        except StopIteration as end:
            return seen, end.value
        seen += [event] if event["event"] == "validation" else []


def test_a_file_that_cannot_be_watched_is_refused_before_anything_is_done(tmp_path):
    (tmp_path / "bad.txt").write_text(": animals\ncat dog\n")
    for file in ("bad.txt", "nowhere.txt"):
        with pytest.raises(DataError, match=r"nowhere\.txt|four words"):
            fit(
                "words",
                "cbow",
                corpus(300),
                out=tmp_path / "run",
                watch=str(tmp_path / file),
                **SMALL,
            )
        assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["skip-gram", "glove"])
def test_patience_ends_a_fit_that_no_longer_improves_and_keeps_the_best(name):
    mixed = Sequences.of(
        [
            " ".join(
                np.random.default_rng(line).permutation(["cat", "saw", "dog", "axe", "cow", "file"])
            )
            for line in range(40)
        ],
        unit="word",
    )
    settings = {
        "width": 8,
        "epochs": 20,
        "threads": 1,
        "rate": 0.1,
        "validations": 40,
        "window": 3,
    } | ({} if name == "glove" else {"subsample": 0.0})
    seen, fitted = followed(
        fit_events("words", name, corpus(300), mixed, settings=settings | {"patience": 3})
    )
    best = min(range(len(seen)), key=lambda place: seen[place]["valid"])
    assert (
        len(seen) == best + 4 < 40
        and fitted.metrics["valid"] == seen[best]["valid"] < seen[-1]["valid"]
    )
    task = WordsLesson(
        *(encoded(fitted, each) for each in (corpus(300), mixed)), "line", fitted.codec
    )
    loop = loop_of(fitted.model, task, TrainingOptions(updates=1, threads=1), None)
    list(loop.prepare())
    assert loop.held() == pytest.approx(seen[best]["valid"], rel=1e-6)


def test_training_and_validation_loss_are_in_the_same_unit():
    for settings in ({}, {"output": "hierarchical"}):
        seen, _ = followed(
            fit_events(
                "words",
                "skip-gram",
                corpus(200),
                corpus(200),
                settings=SMALL | {"threads": 1, "epochs": 20} | settings,
            )
        )
        assert seen[-1]["train"] == pytest.approx(seen[-1]["valid"], rel=0.3)


def test_vectors_of_subwords_are_the_means_of_their_parts():
    model = fit("words", "skip-gram", corpus(300), subwords="2,3", buckets=50, **SMALL)
    slow = np.stack(
        [model.model.vector_of(word, model.codec.number[word]) for word in model.words.words]
    )
    assert model.words.vectors == pytest.approx(slow, abs=1e-6)


@pytest.mark.parametrize("name", ["skip-gram", "glove"])
def test_the_text_lies_on_disk_while_a_fit_is_under_way_and_is_used_again_when_it_is_resumed(
    name, tmp_path
):
    settings, file = {"width": 8, "epochs": 8, "threads": 1}, tmp_path / "run" / "ids.npy"

    def begun(resume: bool):
        events = fit_events(
            "words", name, corpus(300), out=tmp_path / "run", resume=resume, settings=settings
        )
        assert any(event["event"] == "validation" for event in events)
        return events

    begun(resume=False).close()
    text, node = np.load(file), file.stat().st_ino
    model = fit("words", name, corpus(300), **settings)
    train, _ = room("words").cut.hold_out(corpus(300), [])
    assert (
        text.tolist()
        == WordsLesson(*(encoded(model, train),) * 2, "line", model.codec).text.tolist()
    )
    begun(resume=True).close()
    assert file.stat().st_ino == node  # it is the same file
    np.save(file, text[::-1])
    again = fit("words", name, corpus(300), out=tmp_path / "run", resume=True, **settings)
    assert bits(again) == bits(model) and not file.exists()


def test_updates_are_counted_in_one_way():
    """A round is an update: in the budget, in the events, and at the end."""
    seen, fitted = followed(
        fit_events("words", "skip-gram", corpus(300), settings=SMALL | {"threads": 1})
    )
    assert fitted.metrics["updates"] == seen[-1]["step"] < fitted.metrics["symbols_seen"]
    assert not fitted.metrics["unfinished"]
    some = fit("words", "skip-gram", corpus(300), **SMALL | {"epochs": None, "updates": 4})
    assert some.metrics["updates"] == 4


@pytest.mark.parametrize("name", ["skip-gram", "glove"])
def test_there_is_no_validation_figure_where_nothing_is_held_out(name):
    alone = Sequences.of(["cat", "dog"], by="line", unit="word")
    settings = {"width": 12, "epochs": 3, "threads": 1}
    heard: list[dict] = []
    with listening(heard.append):
        events = list(fit_events("words", name, corpus(300), alone, settings=settings))
    notes = [event["words"] for event in heard if event["event"] == "note"]
    assert sum("nothing to validate on" in words for words in notes) == 1
    seen = [event for event in events if event["event"] == "validation"]
    assert seen and all(event["valid"] is None and event["best"] is None for event in seen)
    end = next(event for event in events if event["event"] == "end")
    assert end["valid"] is None and not end["said"] and end["improving"] is None
