"""What you keep: a run folder of every rung gives the same model back, and a damaged one says so."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

import seriatim
from seriatim import fit, load
from seriatim.errors import ConfigError, DataError, RunError
from seriatim.models.ladder import known_settings
from tests.ladder import MODELS, RUNGS, VARIANTS, parts_of

LINES = seriatim.Sequences.of(
    f"{a} and {b}"
    for a in ("ham", "jam", "tea", "rum")
    for b in ("eggs", "bread", "milk", "figs", "dates")
)
SMALL = {"width": 8, "heads": 2, "context": 6, "order": 2, "updates": 3}


def small_fit(name: str, **more):
    spec, own = VARIANTS.get(name, (name, {}))
    kept = {
        key: value
        for key, value in SMALL.items()
        if key in known_settings(spec, MODELS["language"])
    }
    return fit("language", spec, LINES, **(kept | own), **more)


@pytest.mark.parametrize("name", RUNGS)
def test_a_saved_run_scores_and_writes_the_same(name, tmp_path):
    model = small_fit(name)
    again = load(model.save(tmp_path / "run"))
    assert again.score(LINES) == model.score(LINES)
    assert again.generate("h", length=20, seed=4) == model.generate("h", length=20, seed=4)
    assert again.settings() == model.settings() and again.metrics == model.metrics
    arrays = {"seen.safetensors", "weights.safetensors"}
    assert {file.name for file in (tmp_path / "run").iterdir()} == arrays | {
        "card.md",
        ".seriatim",
        "codec.json",
        "config.toml",
        "manifest.json",
        "metrics.json",
    }


@pytest.mark.parametrize("unit", ["character", "byte", "word", "token", "subword"])
def test_every_unit_is_kept(unit, tmp_path):
    model = fit("language", "markov", LINES, unit=unit)
    assert load(model.save(tmp_path / "run")).score(LINES) == model.score(LINES)


def test_the_unigram_has_no_order_to_change():
    with pytest.raises(seriatim.SeriatimError, match="not a setting of unigram"):
        fit("language", "unigram", LINES, order=2)


def test_a_wall_clock_budget_is_shared_by_the_parts_that_learn():
    from seriatim.models.ladder import planned

    budgets = [
        part.training.minutes
        for part in planned(parts_of("markov+lstm+gru", {"minutes": 3}), threads=2)
    ]
    assert budgets[1:] == [1.5, 1.5]
    assert all(part.training.threads == 2 for part in planned(parts_of("lstm", {}), threads=2))


def test_fitting_leaves_the_number_of_threads_as_it_was():
    before = torch.get_num_threads()
    small_fit("lstm", threads=before + 1)
    assert torch.get_num_threads() == before


def test_verbs_take_a_run_folder_a_path_or_a_predictor(tmp_path):
    model = small_fit("markov")
    folder = model.save(tmp_path / "run")
    file = tmp_path / "lines.txt"
    file.write_text("ham and eggs\ntea and figs\n")
    figures = [
        seriatim.evaluate(run, data)["nats_per_token"]
        for run in (model, folder, str(folder))
        for data in (file, str(file))
    ]
    assert len(set(figures)) == 1
    assert (
        len(seriatim.score(folder, file)["items"]) == 2
        and len(seriatim.predict(folder, file, top=3)["items"][0]["next"]) == 3
    )
    assert seriatim.generate(folder, "ham", length=5)["items"][0]["text"].startswith("ham")


def test_data_cut_differently_is_refused():
    with pytest.raises(DataError, match="trained by line"):
        small_fit("markov").evaluate(seriatim.Sequences.of(["ham"], by="stream"))


def test_a_folder_is_never_overwritten_unasked(tmp_path):
    model = small_fit("markov")
    model.save(tmp_path / "run")
    with pytest.raises(RunError, match="overwrite="):
        model.save(tmp_path / "run")
    model.save(tmp_path / "run", overwrite=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(RunError, match="not a run folder"):
        model.save(tmp_path / "mine", overwrite=True)
    assert (tmp_path / "mine" / "thesis.txt").exists()


def test_a_config_that_promises_a_giant_is_refused_before_memory_is_taken(tmp_path):
    import hashlib

    folder = small_fit("lstm").save(tmp_path / "run")
    config = (folder / "config.toml").read_text().replace("width = 8", "width = 65536")
    (folder / "config.toml").write_text(config)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"]["config.toml"] = {
        "sha256": hashlib.sha256(config.encode()).hexdigest(),
        "bytes": len(config),
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(RunError, match="not fit"):
        load(folder)


def test_every_changed_byte_is_noticed(tmp_path):
    folder = small_fit("gru").save(tmp_path / "run")
    rng = np.random.default_rng(0)
    for name in ("config.toml", "codec.json", "weights.safetensors", "metrics.json"):
        content = (folder / name).read_bytes()
        place = int(rng.integers(len(content)))
        (folder / name).write_bytes(
            content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
        )
        with pytest.raises(RunError, match="not the file that was written"):
            load(folder)
        (folder / name).write_bytes(content)
    load(folder)


def test_two_fits_cannot_write_one_folder(tmp_path):
    from tests.ladder import fit_events

    events = fit_events(
        "language", "lstm", LINES, out=tmp_path / "run", settings={"updates": 5, "width": 8}
    )
    next(events)
    for settings in ({"resume": True}, {"overwrite": True}):
        with pytest.raises(RunError, match="another process is fitting"):
            fit("language", "lstm", LINES, out=tmp_path / "run", updates=5, width=8, **settings)
    events.close()
    assert (
        fit(
            "language", "lstm", LINES, out=tmp_path / "run", updates=5, width=8, resume=True
        ).metrics["updates"]
        == 5
    )


def test_scoring_the_training_data_is_said():
    model = small_fit("markov")
    other = seriatim.Sequences.of(["ham and jam"])
    shares = [model.evaluate(data)["protocol"]["seen_in_training"] for data in (LINES, other)]
    assert shares == [1, 0]
    trained = fit("language", "lstm", LINES, updates=1, width=8)
    assert trained.evaluate(LINES)["protocol"]["seen_in_training"] > 0.8


@pytest.mark.parametrize("unit", ["character", "byte", "word", "token", "subword"])
def test_a_stream_of_pieces_is_the_text_that_generate_gives(unit):
    data = seriatim.Sequences.of(["käse, brot (und wein) 漢字: ja! " * 40], by="stream", unit=unit)
    model = fit("language", "markov", data, unit=unit, order=2)
    for settings in ({"length": 60, "seed": 3}, {"length": 300, "temperature": 0}, {"length": 0}):
        pieces = list(model.stream("käse", **settings))
        assert "".join(pieces) == model.text("käse", **settings)
    assert len(list(model.stream("käse", length=60))) > 10
    with pytest.raises(ConfigError):
        next(model.stream("k", beam=2))


def test_what_only_translators_do_is_refused():
    model = small_fit("unigram")
    for settings in (
        {"prefix": "a"},
        {"never": "a"},
        {"must": "a", "beam": 3},
        {"min_bayes_risk": 4},
        {"coverage": 0.2},
    ):
        with pytest.raises(ConfigError, match="unknown setting"):
            model.generate(**settings)
