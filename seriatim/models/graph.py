"""The computation graph of one loss: what was computed from what, and what each number does to it.

    forward    v_i = f_i(its inputs)                          in the order of the computation
    backward   dl/dv_j = sum_i dl/dv_i dv_i/dv_j              i: the nodes that v_j goes into

Every call of a torch function while the loss is computed is a node; what the loss does not depend
on is left out, and what no gradient goes through (lengths, masks, the truth) counts as given.
Gradients are those of autograd, which walks the same graph backwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from seriatim.errors import ConfigError
from seriatim.layers.devices import home, to
from seriatim.models.base import Model, NeuralModel, evaluating
from seriatim.records import Record, plain_array

MOST = 2000  # parameters of a model whose graph can be looked at


@dataclass
class Node:
    """A tensor that was computed, or given."""

    name: str
    operation: str  # "" for what was given
    inputs: list[str]
    tensor: Tensor
    value: Tensor  # as it was then
    constant: bool = True  # it has no name of its own


class Recording(TorchFunctionMode):
    """Writes down which function made which tensor of which."""

    def __init__(self, given: Mapping[str, Tensor]):
        super().__init__()
        self.nodes: dict[int, Node] = {}  # by the tensor; nodes keep it alive
        for name, tensor in given.items():
            self.nodes[id(tensor)] = Node(name, "", [], tensor, tensor.detach().clone(), False)
        self.made = 0

    def __torch_function__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        """Do it, and write it down where it made tensors."""
        kwargs = kwargs or {}
        found = func(*args, **kwargs)
        several = found if isinstance(found, (tuple, list)) else [found]
        made = [each for each in several if isinstance(each, Tensor) and id(each) not in self.nodes]
        if made:
            inputs = [self.known(each).name for each in tensors_in([*args, *kwargs.values()])]
            for each in made:
                self.made += 1
                if each.requires_grad and not each.is_leaf:
                    each.retain_grad()
                node = Node(f"v{self.made}", named(func), inputs, each, each.detach().clone())
                self.nodes[id(each)] = node
        return found

    def known(self, tensor: Tensor) -> Node:
        """The node of an input; a constant, if it came from elsewhere."""
        if id(tensor) not in self.nodes:
            value = tensor.detach().clone()
            self.nodes[id(tensor)] = Node(f"c{len(self.nodes)}", "", [], tensor, value)
        return self.nodes[id(tensor)]


def named(func: Any) -> str:
    """What a function of torch is called."""
    return str(getattr(func, "__name__", func)).strip("_")


def tensors_in(values: Iterable[Any]) -> list[Tensor]:
    """The tensors among arguments, those in tuples and lists too."""
    found: list[Tensor] = []
    for each in values:
        if isinstance(each, Tensor):
            found.append(each)
        elif isinstance(each, (tuple, list)):
            found += tensors_in(each)
    return found


def graph_of(run: Callable[[], Tensor], given: Mapping[str, Tensor]) -> list[Record]:
    """The nodes on which the loss that `run` returns depends, those given first: of each its name,
    its operation and inputs, its shape, values and gradient (None where there is none).

    >>> w = torch.tensor(3.0, requires_grad=True)
    >>> for node in graph_of(lambda: (w * 2).square(), {"w": w}):
    ...     print(node["name"], node["operation"], node["inputs"], node["value"], node["gradient"])
    w  [] 3.0 24.0
    v1 mul ['w'] 6.0 12.0
    v2 square ['v1'] 36.0 1.0
    """
    recording = Recording(given)
    with recording:
        loss = run()
    last = recording.known(loss)
    kept = leading_to(last, list(recording.nodes.values()))
    leaves = [node.tensor for node in kept if node.tensor.is_leaf]
    before = [leaf.grad for leaf in leaves]
    for leaf in leaves:
        leaf.grad = None
    loss.sum().backward()
    nodes = [as_record(node) for node in kept]
    for leaf, gradient in zip(leaves, before, strict=True):
        leaf.grad = gradient
    return nodes


def leading_to(last: Node, nodes: list[Node]) -> list[Node]:
    """Those that gradients reach from the last one, and what these were computed from; what was
    given first, the others in their order, and numbered anew."""
    for node in nodes:
        if not node.tensor.requires_grad:
            node.operation, node.inputs = "", []
    wanted = {last.name}
    for node in reversed(nodes):
        if node.name in wanted:
            wanted.update(node.inputs)
    kept = [node for node in nodes if node.name in wanted]
    kept.sort(key=lambda node: bool(node.operation))  # stable
    names: dict[str, str] = {}
    for node in kept:
        kind = "v" if node.operation else "c"
        ours = node.operation or node.constant
        count = sum(each.startswith(kind) for each in names.values()) + 1
        names[node.name] = f"{kind}{count}" if ours else node.name
    for node in kept:
        node.name, node.inputs = names[node.name], [names[each] for each in node.inputs]
    return kept


def as_record(node: Node) -> Record:
    """A node as plain values."""
    gradient = node.tensor.grad
    return {
        "name": node.name,
        "operation": node.operation,
        "inputs": node.inputs,
        "shape": list(node.value.shape),
        "value": plain_array(home(node.value)),
        "gradient": None if gradient is None else plain_array(home(gradient.detach())),
    }


def graph_of_model(model: Model, batch: Any, spec: str) -> list[Record]:
    """The graph of the loss of a batch, by the names of parameters; x and y are the batch's own."""
    if not isinstance(model, NeuralModel):
        raise ConfigError(
            "only a network has a graph that gradients go back through",
            got=spec,
            do="Fit one, for instance mlp with --width 4",
        )
    if model.size() > MOST:
        raise ConfigError(
            f"a graph is for models of up to {MOST:,} parameters: nobody reads a larger one",
            got=f"{spec}, {model.size():,} parameters",
            do="Fit a small one: --width 4, of texts with few words, too (--vocabulary)",
        )
    batch = to(batch, model.device)
    if batch.x.is_floating_point():
        batch = replace(batch, x=batch.x.clone().requires_grad_())
    given = {"x": batch.x, "y": batch.y, **dict(model.named_parameters())}
    with evaluating(model, gradients=True), torch.enable_grad():
        return graph_of(lambda: model.loss(batch)[0], given)
