"""The computation graph of a loss: its gradients against finite differences and by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import seriatim
from seriatim.errors import ConfigError
from seriatim.models.base import evaluating
from seriatim.models.graph import graph_of
from seriatim.records import array_of
from seriatim.tasks.labels.codec import of_examples
from tests.labels import messages
from tests.terminal import good

SMALL = {"width": 4, "updates": 3, "threads": 1, "seed": 1}
MODELS = {
    "mlp": {"activation": "tanh", "hidden": 2},
    "gru": {"beside": "no"},
    "transformer": {"beside": "no", "layers": 1, "heads": 2, "norm_place": "after"},
}


def test_the_residual_of_the_lecture():
    w = torch.tensor([1.0, -2.0], requires_grad=True)
    b, x, y = torch.tensor(0.5, requires_grad=True), torch.tensor([3.0, 4.0]), torch.tensor(1.0)
    nodes = graph_of(lambda: (y - (w @ x + b)) ** 2, {"w": w, "b": b, "x": x, "y": y})
    found = {node["name"]: node for node in nodes}
    r = 1.0 - (3.0 - 8.0 + 0.5)
    assert found["b"]["gradient"] == pytest.approx(-2 * r)
    assert found["w"]["gradient"] == pytest.approx([-2 * r * 3, -2 * r * 4])
    assert found["x"]["gradient"] is None and nodes[-1]["value"] == pytest.approx(r * r)
    assert [node["operation"] for node in nodes] == ["", "", "", "", "matmul", "add", "sub", "pow"]
    assert w.grad is None


def numbers():
    x = np.random.default_rng(0).normal(size=(30, 2, 3))
    return x.tolist(), x.sum((1, 2)).tolist()


@pytest.mark.parametrize("spec", MODELS)
@pytest.mark.parametrize("task", ("classify", "regress"))
def test_gradients_are_finite_differences(task, spec):
    data = messages(40) if task == "classify" else numbers()
    own = {
        key: value for key, value in MODELS[spec].items() if (task, key) != ("regress", "beside")
    }
    fewer = {"embedding": 2} if task == "classify" else {}
    model = seriatim.fit(task, spec, data, **SMALL, **own, **fewer)
    nodes = {node["name"]: node for node in model.graph(data)["nodes"]}
    examples = model.codec.encode(model.data(data)[:1])
    batch, step = of_examples(examples, np.arange(1)), 1e-2
    tried = 0
    for name, parameter in model.model.named_parameters():
        if name not in nodes:
            continue
        gradient = array_of(nodes[name]["gradient"]).reshape(-1)
        flat = parameter.data.view(-1)
        for place in np.unique(np.abs(gradient).argsort()[-2:]):
            kept, losses = float(flat[place]), []
            for change in (step, -step):
                flat[place] = kept + change
                with evaluating(model.model):
                    losses.append(float(model.model.loss(batch)[0]))
            flat[place] = kept
            slope = (losses[0] - losses[1]) / (2 * step)
            assert gradient[place] == pytest.approx(slope, rel=2e-2, abs=2e-3), name
            tried += 1
    assert tried > 4


def test_every_node_is_computed_from_earlier_ones():
    model = seriatim.fit("regress", "mlp", numbers(), **SMALL)
    record = model.graph(numbers())
    before: set[str] = set()
    for node in record["nodes"]:
        assert set(node["inputs"]) <= before
        before.add(node["name"])
    x = next(node for node in record["nodes"] if node["name"] == "x")
    assert x["gradient"] is not None and np.shape(x["gradient"]) == np.shape(x["value"])
    assert record["loss"] == record["nodes"][-1]["value"]


def test_what_has_no_graph_is_refused():
    data = messages(40)
    with pytest.raises(ConfigError, match="only a network"):
        seriatim.fit("classify", "naive-bayes", data).graph(data)
    with pytest.raises(ConfigError, match="2,000 parameters"):
        seriatim.fit("classify", "gru", data, **SMALL | {"width": 64}, beside="no").graph(data)


def test_the_command_prints_a_table(tmp_path):
    seriatim.fit("regress", "mlp", numbers(), **SMALL).save(tmp_path / "run")
    (tmp_path / "one.jsonl").write_text('{"values": [[1, 2, 3]], "value": 2}\n')
    out = good("graph", tmp_path / "run", tmp_path / "one.jsonl").out
    assert "d loss / d node" in out and "hidden.maps.0.weight" in out and "relu" in out
