"""How gradients become updates.

    sgd     W <- W - r m,   m = 0.9 m + g                                          Polyak 1964
    adamw   W <- W - r m / sqrt(v): each weight at its own pace                    Kingma and Ba 2015, Loshchilov and Hutter 2019
    muon    W <- W - r O,   O the orthogonal matrix nearest to m                   Jordan et al. 2024
    adagrad W <- W - r g / sqrt(G), G the sum of all g^2: for tables of which few  Duchi et al. 2011
            rows are used at a time, each row at its own pace

Unlike adamw, which treats a matrix as a heap of numbers, muon treats it as a map: whatever the gradient stretches much or
little, the update turns all directions alike, so that rare ones are learned too. It is meant for the maps inside the blocks;
embeddings, output layer, biases and norms are left to adamw.
"""
from __future__ import annotations

from collections import deque

import torch
from torch import Tensor, nn

from seriatim.config import TrainingOptions
from seriatim.errors import ConfigError
from seriatim.parallel import side_by_side

BETAS = (0.9, 0.99)
PACE = 8                                   # adagrad: its rate, in multiples of the others'


class Rules(torch.optim.AdamW):
    """AdamW, but for groups that name another rule. Rates mean about the same for all: of muon's update, a fifth."""

    parts = 1                              # threads that share muon's maps, each with maps of its own

    def __init__(self, groups: list[dict], momentum: float, rounds: int = 3, **settings):
        super().__init__(groups, **settings)
        self.momentum, self.rounds = momentum, rounds

    @torch.no_grad()
    def step(self) -> None:
        groups = self.param_groups
        try:
            self.param_groups = [group for group in groups if group["rule"] == "adamw"]
            super().step()
        finally:
            self.param_groups = groups
        for group in groups:
            rule = {"muon": self.turn, "adagrad": self.touch}.get(group["rule"])
            moving = [each for each in group["params"] if each.grad is not None] if rule else []
            for each in moving:
                self.state[each]["step"] = self.state[each].get("step", torch.zeros(())) + 1      # AdamW looks for it when it is restored
            if moving:
                rule(moving, group)

    def turn(self, moving: list[Tensor], group: dict) -> None:
        """Muon."""
        shares = [moving[part::self.parts] for part in range(min(self.parts, len(moving)))]
        deque(side_by_side(lambda some: self.turn_some(some, group), shares) if len(shares) > 1 else [self.turn_some(moving, group)], maxlen=0)

    @torch.no_grad()
    def turn_some(self, moving: list[Tensor], group: dict) -> None:
        wanted = []
        for each in moving:
            state = self.state[each]
            if "momentum" not in state:
                state["momentum"] = torch.zeros_like(each)
            mean = state["momentum"].mul_(self.momentum).add_(each.grad)
            wanted.append(each.grad.add(mean, alpha=self.momentum))
        torch._foreach_mul_(moving, 1 - group["lr"] * group["weight_decay"])
        for each, change in zip(moving, orthogonal(wanted, self.rounds), strict=True):
            each.add_(change, alpha=-0.2 * group["lr"] * min(each.shape) ** 0.5)

    def touch(self, moving: list[Tensor], group: dict) -> None:
        """Adagrad, of the rows that were used."""
        for each in moving:
            gradient, state = each.grad.coalesce(), self.state[each]
            rows, values = gradient.indices()[0], gradient.values()                 # (R,), (R, V)
            if "squares" not in state:
                state["squares"] = torch.zeros_like(each)
            squares = state["squares"].index_add_(0, rows, values.square())
            each.index_add_(0, rows, values / squares[rows].sqrt().add_(1e-10), alpha=-PACE * group["lr"])


def orthogonal(matrices: list[Tensor], rounds: int) -> list[Tensor]:
    """The orthogonal matrix nearest to each, roughly: Newton and Schulz's iteration pulls all singular values towards 1.

    Gates, heads and the like stand above each other in one tall matrix: each square of it is a map of its own. All of one size are turned together.
    """
    squares = [squares_of(each) for each in matrices]
    found: list[Tensor] = [None] * len(squares)
    for size in {each.shape[1:] for each in squares}:
        same = [number for number, each in enumerate(squares) if each.shape[1:] == size]
        x = torch.cat([squares[number] for number in same])                         # (maps, D, D)
        x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
        for _ in range(rounds):
            square = x @ x.mT
            x = torch.baddbmm(x, torch.baddbmm(square, square, square, beta=-4.775, alpha=2.0315), x, beta=3.4445)
        for number, turned in zip(same, x.split([len(squares[number]) for number in same]), strict=True):
            tall, wide = matrices[number].shape
            found[number] = turned.reshape(wide, tall).T if tall % wide and wide % tall == 0 else turned.reshape(tall, wide)
    return found


def squares_of(matrix: Tensor) -> Tensor:
    """(tall, wide) -> (maps, D, D); a matrix that is not made of squares is one map as it is."""
    tall, wide = matrix.shape
    return matrix.reshape(-1, wide, wide) if tall % wide == 0 else matrix.T.reshape(-1, tall, tall) if wide % tall == 0 else matrix[None]


def make_optimiser(model: nn.Module, options: TrainingOptions) -> torch.optim.Optimizer:
    """Only matrices are pulled towards zero."""
    found: dict[tuple[str, float], list] = {}
    tables = {id(each.weight) for each in model.modules() if getattr(each, "sparse", False)}
    for name, each in model.named_parameters():
        rule = "adagrad" if id(each) in tables else "muon" if options.optimiser == "muon" and "blocks." in name and each.dim() == 2 else "adamw"
        found.setdefault((rule, options.weight_decay if each.dim() > 1 else 0.0), []).append(each)
    groups = [{"params": each, "weight_decay": decay, "rule": rule} for (rule, decay), each in sorted(found.items(), key=lambda item: item[0], reverse=True)]
    if options.optimiser == "sgd":
        if tables:
            raise ConfigError("tables of n-grams (--direct, --grams) cannot learn by sgd", do="Use --optimiser muon or adamw")
        return torch.optim.SGD(groups, lr=options.rate, momentum=options.momentum)
    if all(group["rule"] == "adamw" for group in groups):
        return torch.optim.AdamW(groups, lr=options.rate, betas=BETAS, fused=True)
    return Rules(groups, 0.95, lr=options.rate, betas=BETAS, fused=True)
