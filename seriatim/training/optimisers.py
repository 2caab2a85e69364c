"""How gradients become updates.

    sgd     W <- W - r m,   m = 0.9 m + g                                          Polyak 1964
    adamw   W <- W - r m / sqrt(v): each weight at its own pace                    Kingma and Ba 2015,
                                                                                   Loshchilov and Hutter 2019
    muon    W <- W - r O,   O the orthogonal matrix nearest to m                   Jordan et al. 2024
    adagrad W <- W - r g / sqrt(G), G the sum of all g^2: for tables of which few  Duchi et al. 2011
            rows are used at a time, each row at its own pace

Unlike adamw, which treats a matrix as a heap of numbers, muon treats it as a map: whatever the
gradient stretches much or little, the update turns all directions alike, so that rare ones are
learned too. It is meant for the maps inside the blocks; embeddings, output layer, biases and norms
are left to adamw.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from seriatim.errors import ConfigError
from seriatim.models.recipe import TrainingOptions
from seriatim.parallel import Workers, flushed

Group = dict[str, Any]  # of weights that learn by one rule, as torch has them


BETAS = (0.9, 0.99)


PACE = 8  # adagrad: its rate, in multiples of the others'


class Rules(torch.optim.AdamW):
    """AdamW, but for groups that name another rule. Rates mean about the same for all: of muon's
    update, a fifth."""

    workers: Workers | None = None  # those that share muon's maps
    shares = 1  # each with so many-th of them

    def __init__(self, groups: list[Group], momentum: float, rounds: int = 3, **settings: Any):
        super().__init__(groups, **settings)
        self.momentum, self.rounds = momentum, rounds

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """One update of every group by its rule."""
        groups = self.param_groups
        try:
            self.param_groups = [group for group in groups if group["rule"] == "adamw"]
            super().step(closure)
        finally:
            self.param_groups = groups
        for group in groups:
            moving = [each for each in group["params"] if each.grad is not None]
            if group["rule"] == "adamw" or not moving:
                continue
            for each in moving:  # AdamW looks for it when it is restored
                self.state[each]["step"] = (
                    self.state[each].get("step", torch.zeros((), device="cpu")) + 1
                )
            (self.turn if group["rule"] == "muon" else self.touch)(moving, group)

    def turn(self, moving: list[Tensor], group: Group) -> None:
        """Muon."""
        if self.workers is None:
            return self.turn_some(moving, group)
        shares = [moving[part :: self.shares] for part in range(min(self.shares, len(moving)))]
        self.workers.map(lambda some: self.turn_some(some, group), shares)

    @flushed()
    @torch.no_grad()
    def turn_some(self, moving: list[Tensor], group: Group) -> None:
        """Muon, of some of the maps."""
        wanted = []
        for each in moving:
            state = self.state[each]
            if "momentum" not in state:
                state["momentum"] = torch.zeros_like(each)
            mean = state["momentum"].mul_(self.momentum).add_(gradient_of(each))
            wanted.append(gradient_of(each).add(mean, alpha=self.momentum))
        torch._foreach_mul_(moving, 1 - group["lr"] * group["weight_decay"])
        for each, change in zip(moving, orthogonal(wanted, self.rounds), strict=True):
            each.add_(change, alpha=-0.2 * group["lr"] * min(each.shape) ** 0.5)

    def touch(self, moving: list[Tensor], group: Group) -> None:
        """Adagrad, of the rows that were used."""
        for each in moving:
            gradient, state = gradient_of(each).coalesce(), self.state[each]
            rows, values = gradient.indices()[0], gradient.values()  # (R,), (R, V)
            if "squares" not in state:
                state["squares"] = torch.zeros_like(each)
            squares = state["squares"].index_add_(0, rows, values.square())
            each.index_add_(
                0, rows, values / squares[rows].sqrt().add_(1e-10), alpha=-PACE * group["lr"]
            )


def gradient_of(moving: Tensor) -> Tensor:
    """That of a weight which has one."""
    assert moving.grad is not None
    return moving.grad


def orthogonal(matrices: list[Tensor], rounds: int) -> list[Tensor]:
    """The orthogonal matrix nearest to each, roughly: Newton and Schulz's iteration pulls all
    singular values to 1.

    Gates, heads and the like stand above each other in one tall matrix: each square of it is a map
    of its own. All of one size are turned together.
    """
    squares = [squares_of(each) for each in matrices]
    found = list(matrices)  # each of which is replaced
    for size in {each.shape[1:] for each in squares}:
        same = [number for number, each in enumerate(squares) if each.shape[1:] == size]
        x = torch.cat([squares[number] for number in same])  # (maps, D, D)
        x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
        for _ in range(rounds):
            square = x @ x.mT
            x = torch.baddbmm(
                x, torch.baddbmm(square, square, square, beta=-4.775, alpha=2.0315), x, beta=3.4445
            )
        for number, turned in zip(
            same, x.split([len(squares[number]) for number in same]), strict=True
        ):
            tall, wide = matrices[number].shape
            found[number] = (
                turned.reshape(wide, tall).T
                if tall % wide and wide % tall == 0
                else turned.reshape(tall, wide)
            )
    return found


def squares_of(matrix: Tensor) -> Tensor:
    """(tall, wide) -> (maps, D, D); a matrix that is not made of squares is one map as it is."""
    tall, wide = matrix.shape
    return (
        matrix.reshape(-1, wide, wide)
        if tall % wide == 0
        else matrix.T.reshape(-1, tall, tall)
        if wide % tall == 0
        else matrix[None]
    )


def make_optimiser(model: nn.Module, options: TrainingOptions) -> torch.optim.Optimizer:
    """Only matrices are pulled towards zero."""
    found: dict[tuple[str, float], list[nn.Parameter]] = {}
    tables = {id(each.weight) for each in model.modules() if getattr(each, "sparse", False)}
    for name, each in model.named_parameters():
        rule = (
            "adagrad"
            if id(each) in tables
            else "muon"
            if options.optimiser == "muon" and "blocks." in name and each.dim() == 2
            else "adamw"
        )
        found.setdefault((rule, options.weight_decay if each.dim() > 1 else 0.0), []).append(each)
    groups = [
        {"params": each, "weight_decay": decay, "rule": rule}
        for (rule, decay), each in sorted(found.items(), key=lambda item: item[0], reverse=True)
    ]
    if options.optimiser == "sgd":
        if tables:
            raise ConfigError(
                "tables of n-grams (--direct, --source-ngrams) cannot learn by sgd",
                do="Use --optimiser muon or adamw",
            )
        return torch.optim.SGD(groups, lr=options.rate, momentum=options.momentum)
    if all(group["rule"] == "adamw" for group in groups):
        return torch.optim.AdamW(groups, lr=options.rate, betas=BETAS, fused=True)
    return Rules(groups, 0.95, lr=options.rate, betas=BETAS, fused=True)
