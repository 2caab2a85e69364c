"""Hidden layers behind the pooling: the multilayer perceptron of feature vectors and of texts."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import seriatim
from seriatim.layers.hidden import Hidden
from seriatim.tasks import task
from tests.labels import messages

BENT = {
    "relu": lambda x: max(0.0, x),
    "tanh": math.tanh,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "gelu": lambda x: x * 0.5 * (1 + math.erf(x / math.sqrt(2))),
}
QUICK = {"width": 5, "dropout": 0.0, "updates": 3, "threads": 1, "seed": 1}


def slow(x: list[float], maps, bent) -> list[float]:
    """The recipe of the lecture with loops."""
    for each in maps:
        weight, bias = each.weight.tolist(), each.bias.tolist()
        x = [
            bent(sum(w * v for w, v in zip(row, x, strict=True)) + b)
            for row, b in zip(weight, bias, strict=True)
        ]
    return x


@pytest.mark.parametrize("activation", BENT)
@pytest.mark.parametrize("layers", (1, 3))
def test_hidden_layers_are_the_recipe(activation, layers):
    torch.manual_seed(0)
    hidden = Hidden(4, 3, layers, activation, 0.0)
    x = torch.randn(2, 4)
    expected = [slow(row, hidden.maps, BENT[activation]) for row in x.tolist()]
    assert np.allclose(hidden(x).tolist(), expected, atol=1e-6)


def features(count: int = 40) -> tuple[list, list[float]]:
    x = np.random.default_rng(0).normal(size=(count, 1, 3))
    return x.tolist(), np.maximum(0, x[:, 0, 0] - x[:, 0, 1]).tolist()


@pytest.mark.parametrize("activation", BENT)
def test_a_feature_vector_goes_straight_into_the_first_hidden_layer(activation):
    x, y = features()
    model = seriatim.fit("regress", "mlp", (x, y), activation=activation, hidden=2, **QUICK)
    network, scale = model.model, model.codec.scale
    names = {name for name, _ in network.named_parameters()}
    assert not any(name.startswith(("embedding", "inward", "stack")) for name in names)
    assert network.size() == 3 * 5 + 5 + 5 * 5 + 5 + 2 * (5 + 1)
    scaled = model.codec.encode(model.data((x[:1], y[:1]))).x.flat.reshape(-1).tolist()
    above = slow(scaled, network.hidden.maps, BENT[activation])
    weight, bias = network.head.linear.weight.tolist()[0], network.head.linear.bias.tolist()[0]
    mean = sum(w * v for w, v in zip(weight, above, strict=True)) + bias
    expected = mean * float(scale.deviation[0]) + float(scale.mean[0])
    assert model.predict(x[:1])["items"][0]["value"] == pytest.approx(expected, rel=1e-4)


def test_texts_are_pooled_and_bent():
    model = seriatim.fit("classify", "mlp", messages(30), embedding=7, **QUICK)
    network = model.model
    assert network.embedding.weight.shape[1] == 7 and network.hidden.maps[0].weight.shape == (5, 5)
    assert network.counted is None  # nothing counts beside it
    told = seriatim.fit("classify", "mlp", messages(30), beside="linear", **QUICK)
    assert told.model.counted is not None


def test_other_networks_may_have_hidden_layers():
    x, y = features(30)
    model = seriatim.fit(
        "regress", "gru", (x, y), hidden=1, activation="gelu", **QUICK | {"width": 4}
    )
    assert len(model.model.hidden.maps) == 1 and model.evaluate((x, y))["mae"] > 0
    rnn = seriatim.fit("regress", "rnn", (x, y), activation="gelu", **QUICK | {"width": 4})
    assert rnn.evaluate((x, y))["mae"] > 0


def test_it_is_not_compared_unless_it_is_named():
    assert not task("classify").rungs["mlp"].usual and not task("regress").rungs["mlp"].usual
