"""Updates: what muon does to a matrix, and who is given to whom."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from seriatim.models.ladder import create
from seriatim.models.recipe import TrainingOptions
from seriatim.parallel import Workers
from seriatim.training.optimisers import PACE, Rules, make_optimiser, orthogonal
from tests.ladder import parts_of as parse


@pytest.mark.parametrize("shape", [(24, 24), (96, 24), (24, 96), (30, 24)])
def test_the_update_is_nearly_orthogonal_square_by_square(shape):
    torch.manual_seed(0)
    matrix = torch.randn(shape)
    found, _ = orthogonal([matrix, torch.randn(24, 48)], 8)
    assert found.shape == matrix.shape
    squares = (
        found.split(24)
        if shape[0] % 24 == 0 and shape[0] > 24
        else found.split(24, 1)
        if shape[1] > 24
        else [found]
    )
    sources = (
        matrix.split(24)
        if shape[0] % 24 == 0 and shape[0] > 24
        else matrix.split(24, 1)
        if shape[1] > 24
        else [matrix]
    )
    for square, source in zip(squares, sources, strict=True):
        values = torch.linalg.svdvals(square)
        assert values.min() > 0.5 and values.max() < 1.3
        u, _, v = torch.linalg.svd(source, full_matrices=False)
        assert (
            torch.nn.functional.cosine_similarity(square.flatten(), (u @ v).flatten(), 0) > 0.97
        )  # the nearest orthogonal matrix


def test_muon_takes_the_maps_inside_the_blocks_and_adamw_the_rest():
    model = create(parse("lstm", {"width": 8, "layers": 2}), 11)
    optimiser = make_optimiser(model, TrainingOptions(optimiser="muon", rate=0.1, weight_decay=0.0))
    inner = {
        name
        for name, each in model.named_parameters()
        if any(each is p for p in optimiser.param_groups[0]["params"])
    }
    assert isinstance(optimiser, Rules) and inner == {
        f"blocks.{i}.mixer.cell.weight_{k}_l0" for i in (0, 1) for k in ("ih", "hh")
    }
    assert {id(p) for group in optimiser.param_groups for p in group["params"]} == {
        id(p) for p in model.parameters()
    }
    before = {name: each.detach().clone() for name, each in model.named_parameters()}
    for each in model.parameters():
        each.grad = torch.randn_like(each)
    twin = nn.Parameter(before["embedding.weight"].clone())
    twin.grad = model.embedding.weight.grad.clone()
    optimiser.step()
    other = torch.optim.AdamW([twin], lr=0.1, betas=(0.9, 0.99), weight_decay=0.0)
    other.step()
    assert torch.allclose(model.embedding.weight, twin, atol=1e-6)
    for name, each in model.named_parameters():
        size = (each - before[name]).detach().pow(2).mean().sqrt().item()
        assert size == pytest.approx(0.02 if name in inner else 0.1, rel=0.25), (
            name
        )  # a fifth of the rate, or Adam's first step


def test_threads_that_share_the_maps_turn_them_alike():
    found = []
    for parts in (1, 3, 50):
        torch.manual_seed(0)
        model = create(parse("lstm", {"width": 8, "layers": 2}), 11)
        optimiser = make_optimiser(model, TrainingOptions(optimiser="muon", rate=0.1))
        with Workers(parts) as workers:
            optimiser.workers, optimiser.shares = workers if parts > 1 else None, parts
            for _ in range(2):
                for each in model.parameters():
                    each.grad = torch.randn_like(each)
                optimiser.step()
        found.append([each.detach() for each in model.parameters()])
    for one, *others in zip(*found, strict=True):
        assert all(torch.allclose(one, other, atol=1e-6) for other in others)


def test_a_network_without_maps_is_left_to_adamw():
    assert (
        type(make_optimiser(create(parse("bigram", {}), 5), TrainingOptions(optimiser="muon")))
        is torch.optim.AdamW
    )


def test_tables_of_votes_learn_by_adagrad_row_by_row():
    torch.manual_seed(0)
    model = create(parse("lstm", {"width": 8, "direct": 3, "cells": 50}), 11)
    table = model.votes.table.weight
    twin = nn.Parameter(table.detach().clone())
    ours = make_optimiser(model, TrainingOptions(optimiser="adamw", rate=0.1, weight_decay=0.5))
    theirs = torch.optim.Adagrad([twin], lr=PACE * 0.1)
    for _ in range(3):
        rows = torch.randint(50, (2, 7))
        (
            model.votes.table(rows) * torch.randn(2, 7, 11)
        ).sum().backward()  # rows that occur twice add up
        twin.grad = table.grad.to_dense()
        ours.step(), theirs.step()
        ours.zero_grad()
    assert torch.allclose(table, twin, atol=1e-6) and table.abs().max() > 0.1
