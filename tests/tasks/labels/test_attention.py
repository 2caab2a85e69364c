"""Networks of labels and translators show whom they attend to, layer by layer and head by head."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import seriatim as st
from seriatim.errors import ConfigError
from seriatim.layers.attention import Attention
from seriatim.models.base import evaluating
from seriatim.records import array_of
from seriatim.show.attention import attention, head, lines
from seriatim.tasks.labels.codec import of_examples

TINY = {"updates": 2, "width": 8, "rows": 4, "layers": 2, "heads": 2}
BEGINNINGS = ("not terrible at all", "a good film", "quite terrible", "good and not bad")
MORE = ("really", "today", "again", "truly")
TEXTS = [f"{text} {more}" for more in MORE for text in BEGINNINGS]
LABELS = ["pos", "pos", "neg", "pos"] * 4
TAGS = [["Y", *"X" * (len(text.split()) - 1)] for text in TEXTS]


def fitted(task: str, **more) -> st.api.Predictor:
    """A small transformer of labels."""
    tokens = [text.split() for text in TEXTS]
    data = {
        "classify": (TEXTS, LABELS),
        "tag": (tokens, TAGS),
        "regress": (TEXTS, [float(len(text)) for text in TEXTS]),
    }[task]
    return st.fit(task, "transformer", data, **TINY | more)


@pytest.mark.parametrize("task", ["classify", "tag", "regress"])
def test_maps_are_those_by_which_the_answer_is_found(task):
    """Values weighed by the maps and sent through the same last map are what the layer says."""
    model = fitted(task)
    record = model.attention(["not terrible at all"])
    assert record["tokens"] == ["not", "terrible", "at", "all"]
    assert [(each["layer"], each["head"]) for each in record["maps"]] == [
        (0, 0), (0, 1), (1, 0), (1, 1)
    ]  # fmt: skip
    part = next(each for each in model.model.modules() if isinstance(each, Attention))
    heard = []
    handle = part.register_forward_hook(lambda _, given, said: heard.append((given, said[0])))
    examples = model.codec.encode(model.data(["not terrible at all"]), labelled=False)
    with evaluating(model.model):
        model.model.predict(of_examples(examples, np.arange(1)))
    handle.remove()
    (x, state, _, frame), said = heard[0]
    with torch.no_grad():
        _, _, v, _ = part.prepared(x, state, frame)
        maps = np.stack([array_of(each["weights"]) for each in record["maps"][:2]])
        y = torch.from_numpy(maps).float()[None] @ v  # (1, H, T, E)
        again = part.outward(y.transpose(1, 2).flatten(2))
    assert torch.allclose(again, said, atol=1e-5)
    assert np.allclose(maps.sum(-1), 1) and (maps[0][0, 1:] > 0).any()  # the future is heard, too


def test_an_extra_position_has_a_name_and_others_are_refused():
    model = fitted("classify", pool="unit")
    assert model.attention(["good film"])["tokens"] == ["good", "film", "<unit>"]
    record = model.attention(["good film"], layer=2, head=1)
    assert len(record["maps"]) == 1
    for draw in (attention, head, lines):
        assert draw(record).rows
    with pytest.raises(ConfigError, match="no such head"):
        model.attention(["good film"], layer=3)
    counted = st.fit("classify", "naive-bayes", (TEXTS, LABELS))
    with pytest.raises(ConfigError, match="attention maps"):
        counted.attention(["good film"])


def test_what_the_encoder_of_a_translator_attends_to():
    pairs = [(text, text.upper()) for text in TEXTS]
    model = st.fit("translate", "transformer", pairs, pairs[:2], unit="word", **TINY)
    record = model.attention("not terrible")
    assert record["tokens"] == ["not", "terrible", "</s>"] and len(record["maps"]) == 4
    weights = np.stack([array_of(each["weights"]) for each in record["maps"]])
    assert np.allclose(weights.sum(-1), 1) and (weights[:, 0, 1] > 0).all()
    small = {"updates": 2, "width": 8, "rows": 4, "heads": 1, "unit": "word"}
    recurrent = st.fit("translate", "gru", pairs, pairs[:2], **small)
    with pytest.raises(ConfigError, match="attention maps"):
        recurrent.attention("not terrible")
