"""How gradients become updates.

    sgd     W <- W - r m,   m = 0.9 m + g                                          Polyak 1964
    adamw   W <- W - r m / sqrt(v): each weight at its own pace                    Kingma and Ba 2015, Loshchilov and Hutter 2019
    muon    W <- W - r O,   O the orthogonal matrix nearest to m                   Jordan et al. 2024

Unlike adamw, which treats a matrix as a heap of numbers, muon treats it as a map: whatever the gradient stretches much or
little, the update turns all directions alike, so that rare ones are learned too. It is meant for the maps inside the blocks;
embeddings, output layer, biases and norms are left to adamw.
"""
from __future__ import annotations

import torch
from torch import Tensor, nn

from seriatim.config import TrainingOptions

BETAS = (0.9, 0.99)


class Muon(torch.optim.AdamW):
    """Muon for its first group of matrices, AdamW for the others. Rates mean the same for both: an update of about a fifth of the rate."""

    def __init__(self, groups: list[dict], momentum: float, rounds: int = 3, **settings):
        super().__init__(groups, **settings)
        self.momentum, self.rounds = momentum, rounds

    @torch.no_grad()
    def step(self) -> None:
        maps = self.param_groups.pop(0)
        try:
            super().step()
        finally:
            self.param_groups.insert(0, maps)
        for each in maps["params"]:
            if each.grad is not None:
                state = self.state[each]
                state["step"] = state.get("step", torch.zeros(())) + 1              # AdamW looks for it when it is restored
                mean = state.setdefault("momentum", torch.zeros_like(each)).mul_(self.momentum).add_(each.grad)
                change = orthogonal(each.grad.add(mean, alpha=self.momentum), self.rounds)
                each.mul_(1 - maps["lr"] * maps["weight_decay"]).add_(change, alpha=-0.2 * maps["lr"] * min(each.shape) ** 0.5)


def orthogonal(matrix: Tensor, rounds: int) -> Tensor:
    """The nearest orthogonal matrix, roughly: Newton and Schulz's iteration pulls all singular values towards 1.

    Gates, heads and the like stand above each other in one tall matrix: each square of it is a map of its own.
    """
    tall, wide = matrix.shape
    squares = matrix.reshape(-1, wide, wide) if tall % wide == 0 else matrix.T.reshape(-1, tall, tall) if wide % tall == 0 else matrix[None]
    x = squares / (squares.norm(dim=(1, 2), keepdim=True) + 1e-7)                  # (maps, D, D)
    for _ in range(rounds):
        square = x @ x.mT
        x = 3.4445 * x + (-4.775 * square + 2.0315 * square @ square) @ x
    return x.reshape(wide, tall).T if tall % wide and wide % tall == 0 else x.reshape(tall, wide)


def make_optimiser(model: nn.Module, options: TrainingOptions) -> torch.optim.Optimizer:
    """Only matrices are pulled towards zero."""
    inner = {id(each) for name, each in model.named_parameters() if "blocks." in name and each.dim() == 2} if options.optimiser == "muon" else set()
    maps, matrices, vectors = ([each for each in model.parameters() if kind(each)] for kind in (
        lambda p: id(p) in inner, lambda p: p.dim() > 1 and id(p) not in inner, lambda p: p.dim() <= 1))
    groups = [{"params": each, "weight_decay": decay} for each, decay in
              ((maps, options.weight_decay), (matrices, options.weight_decay), (vectors, 0.0)) if each]
    if options.optimiser == "sgd":
        return torch.optim.SGD(groups, lr=options.rate, momentum=options.momentum)
    if inner:
        return Muon(groups, 0.95, lr=options.rate, betas=BETAS, fused=True)
    return torch.optim.AdamW(groups, lr=options.rate, betas=BETAS, fused=True)
