"""Chains of tags: against enumeration of all rows, against CRFsuite, and at the edges."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from seriatim.distributions.chains import Chain, ChainHead, bio_constraints

FORBIDDEN = -math.inf


def close(values):
    return pytest.approx(values, rel=1e-9, abs=1e-9)


@some.composite
def chains(draw, forbidding=True):
    """A few small chains of random scores, of order 1 or 2, some of them forbidden; always some row is possible."""
    rng, tags, order = (
        np.random.default_rng(draw(some.integers(0, 2**32 - 1))),
        draw(some.integers(1, 3)),
        draw(some.integers(1, 2)),
    )
    lengths = draw(some.lists(some.integers(0, 4), min_size=1, max_size=3).filter(max))
    scale = draw(some.sampled_from([1.0, 30.0, 2000.0]))  # the last one is beyond any exp

    def scores(*shape: int) -> torch.Tensor:
        found = rng.normal(0, scale, shape)
        found[rng.random(shape) < (0.3 if forbidding else 0)] = FORBIDDEN
        found[..., 0] = np.where(
            np.isinf(found[..., 0]), 0, found[..., 0]
        )  # tag 0 is never forbidden
        return torch.from_numpy(found)

    places = tags + (order > 1)  # START
    pair, end = scores(*[places] * (order + 1)), scores(*[places] * order)
    return Chain(
        scores(len(lengths), max(lengths), tags), pair, scores(tags), end, torch.tensor(lengths)
    )


def enumerated(chain: Chain, row: int) -> list[tuple[list[int], float]]:
    """All rows of tags with their log-probabilities, best first: the definition."""
    length, order, tags = int(chain.lengths[row]), chain.end.dim(), chain.unary.shape[2]
    found = []
    for y in itertools.product(range(tags), repeat=length):
        seen = [tags] * (order - 1) + list(y)  # after START
        score = sum(float(chain.unary[row, t, tag]) for t, tag in enumerate(y))
        score += sum(float(chain.pair[tuple(seen[t : t + order + 1])]) for t in range(length - 1))
        found.append(
            (
                list(y),
                score
                + (
                    float(chain.begin[y[0]] + chain.end[tuple(seen[length - 1 :])])
                    if length
                    else 0.0
                ),
            )
        )
    log_z = np.logaddexp.reduce([score for _, score in found])
    return sorted(((y, score - log_z) for y, score in found), key=lambda each: -each[1])


@settings(max_examples=150, deadline=None)
@given(chains())
def test_probabilities_marginals_mode_and_n_best_are_those_of_enumeration(chain):
    marginals, mode, best, tags = (
        chain.log_marginals().exp(),
        chain.mode(),
        chain.best_rows(4),
        chain.unary.shape[2],
    )
    for row, length in enumerate(chain.lengths.tolist()):
        every = enumerated(chain, row)
        y, log_p = (
            torch.tensor([y for y, _ in every]).reshape(len(every), length),
            np.array([log_p for _, log_p in every]),
        )
        wide = torch.nn.functional.pad(y.long(), (0, chain.unary.shape[1] - length))
        assert chain[[row] * len(y)].log_prob(wide).tolist() == close(log_p)
        by_row = dict(zip(map(tuple, y.tolist()), log_p.tolist(), strict=True))
        assert (
            [found for _, found in best[row]]
            == close(log_p[log_p > FORBIDDEN][:4])
            == [by_row[tuple(each)] for each, _ in best[row]]
        )
        assert len({tuple(each) for each, _ in best[row]}) == len(best[row])
        assert by_row[tuple(mode[row, :length].tolist())] == close(log_p[0])
        share = [np.bincount(y[:, t], np.exp(log_p), tags) for t in range(length)]
        assert np.allclose(marginals[row, :length], np.reshape(share, (length, tags)), atol=1e-9)
        assert not mode[row, length:].any() and (marginals[row, length:] == 1).all()


@settings(max_examples=100, deadline=None)
@given(chains())
def test_marginals_are_the_gradient_of_the_log_partition(chain):
    leaves = [
        each.clone().requires_grad_() for each in (chain.unary, chain.pair, chain.begin, chain.end)
    ]
    log_z = Chain(*leaves, chain.lengths).log_partition()
    unary, pair, begin, end = torch.autograd.grad(log_z[chain.lengths > 0].sum(), leaves)
    assert torch.allclose(
        unary, chain.log_marginals().exp().masked_fill(~chain.inside[..., None], 0.0), atol=1e-9
    )
    rows = (chain.lengths > 0).sum()
    assert torch.allclose(begin.sum(), rows.double()) and torch.allclose(end.sum(), rows.double())
    assert torch.allclose(pair.sum(), (chain.lengths - 1).clamp(min=0).sum().double())
    assert not pair[chain.pair == FORBIDDEN].any()


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_the_gradient_is_right(scale):
    """By finite differences; with scores far apart, where products of matrices would lose states, too."""
    torch.manual_seed(0)
    scores = [
        torch.randn(shape, dtype=torch.float64).mul(scale / 3).requires_grad_()
        for shape in ((3, 5, 4), (4, 4), (4,), (4,))
    ]
    y, weights = torch.randint(0, 4, (3, 5)), torch.rand(3, 5, dtype=torch.float64)
    assert torch.autograd.gradcheck(
        lambda *each: Chain(*each, torch.tensor([5, 1, 3])).total(y, weights), scores
    )


def test_forbidden_pairs_have_no_gradient_and_spoil_none():
    torch.manual_seed(0)
    forbidden = torch.zeros(4, 4, dtype=torch.bool)
    forbidden[0, 1] = forbidden[2, :3] = True
    forbidden[:, 3] = True  # a tag that cannot be reached, and would be the best of all
    unary, pair = (
        (torch.randn(2, 6, 4) + 900 * torch.tensor([0, 0, 0, 1])).requires_grad_(),
        torch.randn(4, 4, requires_grad=True),
    )
    end = torch.tensor([0.0, 0.0, FORBIDDEN, 0.0])
    chain = Chain(
        unary,
        pair.masked_fill(forbidden, FORBIDDEN),
        torch.tensor([0.0, 0.0, 0.0, FORBIDDEN]),
        end,
        torch.tensor([6, 4]),
    )
    loss = -chain.total(torch.tensor([[1, 0, 0, 2, 3, 0], [1] * 6]), torch.ones(2, 6))
    assert loss.item() == math.inf  # 2 cannot be followed by 3
    (-chain.total(torch.tensor([[1, 0, 0, 0, 0, 0], [1] * 6]), torch.ones(2, 6))).backward()
    assert unary.grad.isfinite().all() and pair.grad.isfinite().all() and pair.grad.abs().sum() > 0
    assert not pair.grad[forbidden].any()


def test_nothing_possible_is_minus_infinity_and_no_gradient():
    unary = torch.zeros(2, 3, 2, requires_grad=True)
    chain = Chain(
        unary, torch.full((2, 2), FORBIDDEN), torch.zeros(2), torch.zeros(2), torch.tensor([3, 1])
    )
    log_prob = chain.log_prob(torch.zeros(2, 3, dtype=torch.long))
    assert log_prob[0].item() == FORBIDDEN and log_prob[1].item() == pytest.approx(math.log(0.5))
    log_prob[1].backward()
    assert unary.grad.isfinite().all() and chain.best_rows(3)[0] == []


@settings(max_examples=50, deadline=None)
@given(chains(forbidding=False))
def test_padding_never_matters(chain):
    """Rows are the same alone as beside longer ones, whatever stands behind their ends."""
    wide = torch.cat([chain.unary, torch.full_like(chain.unary[:, :1], math.nan)], 1)
    wide[:, :-1][~chain.inside] = math.nan
    other = Chain(wide, chain.pair, chain.begin, chain.end, chain.lengths)
    y = torch.randint(0, chain.unary.shape[2], wide.shape[:2])
    assert torch.allclose(other.log_prob(y), chain.log_prob(y[:, :-1]))
    assert torch.equal(other.mode()[:, :-1], chain.mode())
    for row, length in enumerate(chain.lengths.tolist()):
        if length:
            alone = Chain(
                chain.unary[[row], :length],
                chain.pair,
                chain.begin,
                chain.end,
                chain.lengths[[row]],
            )
            assert torch.allclose(alone.log_marginals()[0], chain.log_marginals()[row, :length])
            assert alone.log_prob(y[[row], :length]).item() == pytest.approx(
                other.log_prob(y)[row].item()
            )


def test_a_total_weighs_rows_by_the_mean_weight_of_their_places():
    torch.manual_seed(0)
    chain = Chain(
        torch.randn(3, 4, 5),
        torch.randn(5, 5),
        torch.randn(5),
        torch.randn(5),
        torch.tensor([4, 2, 0]),
    )
    y, mask = torch.randint(0, 5, (3, 4)), chain.inside
    assert chain.total(y, mask / mask.sum()).item() == pytest.approx(
        chain.log_prob(y).sum().item() / 6
    )


def test_samples_follow_the_probabilities():
    torch.manual_seed(0)
    chain = Chain(
        torch.randn(1, 3, 2), torch.randn(2, 2), torch.randn(2), torch.randn(2), torch.tensor([3])
    )
    many = 4000
    drawn = chain[[0] * many].sample(torch.Generator().manual_seed(1))
    for y, log_p in enumerated(chain, 0):
        share = (drawn == torch.tensor(y)).all(1).double().mean().item()
        assert share == pytest.approx(math.exp(log_p), abs=4 * math.sqrt(0.25 / many))


def test_a_row_may_end_in_a_tag_that_nothing_follows():
    """It does so beside longer rows, too: nothing is asked behind its end."""
    pair = torch.tensor([[0.0, 0.0], [FORBIDDEN, FORBIDDEN]])
    chain = Chain(
        torch.zeros(3, 4, 2),
        pair,
        torch.zeros(2),
        torch.tensor([FORBIDDEN, 0.0]),
        torch.tensor([4, 2, 0]),
    )
    assert (
        chain.sample().tolist()
        == chain.mode().tolist()
        == [[0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 0, 0]]
    )


def test_long_rows_of_scores_far_apart_lose_nothing():
    """Two worlds that never meet: the one that is worse by 10 at every place is the only one that may end."""
    pair = torch.full((2, 2), FORBIDDEN).fill_diagonal_(0.0)
    unary = torch.tensor([0.0, -10.0]).expand(1, 200, 2)
    chain = Chain(unary, pair, torch.zeros(2), torch.tensor([FORBIDDEN, 0.0]), torch.tensor([200]))
    assert chain.log_partition().item() == pytest.approx(-2000) and (chain.mode() == 1).all()
    assert torch.allclose(chain.log_marginals()[0, :, 1], torch.zeros(200, dtype=torch.float64))


def test_it_agrees_with_crfsuite(tmp_path):
    """The same weights give the same best tags and the same marginals."""
    pycrfsuite = pytest.importorskip("pycrfsuite")
    rng = np.random.default_rng(0)
    words = [[f"w{i}" for i in rng.integers(0, 6, length)] for length in (3, 7, 1, 5, 9, 4)]
    tags = [
        [
            f"t{(int(word[1]) + (t > 0 and int(row[t - 1][1]) % 2)) % 3}"
            for t, word in enumerate(row)
        ]
        for row in words
    ]
    trainer = pycrfsuite.Trainer(verbose=False)
    for row, y in zip(words, tags, strict=True):
        trainer.append([{word: 1.0} for word in row], y)
    trainer.set_params(
        {"c2": 0.05, "feature.possible_transitions": True, "feature.possible_states": True}
    )
    trainer.train(str(tmp_path / "crf"))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "crf"))
    info, names = tagger.info(), sorted(tagger.labels())
    pair = torch.tensor([[info.transitions.get((a, b), 0.0) for b in names] for a in names])
    length = max(map(len, words))
    unary = torch.tensor(
        [
            [
                [info.state_features.get((word, name), 0.0) for name in names]
                for word in row + [""] * (length - len(row))
            ]
            for row in words
        ]
    )
    chain = Chain(unary, pair, torch.zeros(3), torch.zeros(3), torch.tensor([*map(len, words)]))
    mode, marginals = chain.mode(), chain.log_marginals().exp()
    for row, each in enumerate(words):
        assert tagger.tag([{word: 1.0} for word in each]) == [
            names[tag] for tag in mode[row, : len(each)]
        ]
        for t in range(len(each)):
            assert [tagger.marginal(name, t) for name in names] == pytest.approx(
                marginals[row, t].tolist(), abs=1e-4
            )


def test_a_head_learns_that_neighbours_matter():
    """The tag repeats the one before unless the input says so: no place alone knows it."""
    torch.manual_seed(0)
    x = (torch.rand(32, 12, 1) < 0.3).double()
    y = (x[..., 0].cumsum(1) % 2).long()  # changes where x is 1
    wide = torch.cat([x, 1 - x], 2).float()
    head = ChainHead(2, 2)
    optimiser = torch.optim.Adam(head.parameters(), lr=0.2)
    lengths, weights = torch.full((32,), 12), torch.full((32, 12), 1 / (32 * 12))
    first = None
    for _ in range(25):
        optimiser.zero_grad()
        loss = -head(wide, lengths).total(y, weights)
        first = first or loss.item()
        loss.backward()
        optimiser.step()
    assert loss.item() < 0.9 * first and all(
        each.grad.abs().sum() > 0 for each in (head.pair, head.begin, head.end, head.unary.weight)
    )


def test_a_constrained_head_never_breaks_the_rules_and_saves_no_rules():
    names = ["O", "B-A", "I-A", "B-B", "I-B"]
    torch.manual_seed(0)
    head = ChainHead(8, 5, bio_constraints(names))
    tags = head(20 * torch.randn(50, 15, 8), torch.full((50,), 15)).mode()
    assert {names[tag] for tag in tags[:, 0]} <= {"O", "B-A", "B-B"}
    assert all(
        names[b][2:] == names[a][2:] and names[a] != "O"
        for row in tags.tolist()
        for a, b in itertools.pairwise(row)
        if names[b][0] == "I"
    )
    assert set(head.state_dict()) == {"unary.weight", "unary.bias", "pair", "begin", "end"}


def allowed_pairs(names: list[str]) -> set[str]:
    allowed = bio_constraints(names)
    edges = {
        f"{a} {b}" for i, a in enumerate(names) for j, b in enumerate(names) if allowed.pair[i, j]
    }
    return (
        edges
        | {f"< {name}" for i, name in enumerate(names) if allowed.begin[i]}
        | {f"{name} >" for i, name in enumerate(names) if allowed.end[i]}
    )


def test_rules_of_bio_tags():
    assert allowed_pairs(["O", "B-X", "I-X", "B-Y"]) == {
        "< O",
        "< B-X",
        "< B-Y",
        "O >",
        "B-X >",
        "I-X >",
        "B-Y >",
        "O O",
        "O B-X",
        "O B-Y",
        "B-X O",
        "B-X B-X",
        "B-X I-X",
        "B-X B-Y",
        "I-X O",
        "I-X B-X",
        "I-X I-X",
        "I-X B-Y",
        "B-Y O",
        "B-Y B-X",
        "B-Y B-Y",
    }


def test_rules_of_bioes_tags():
    assert allowed_pairs(["O", "B-X", "I-X", "E-X", "S-Y"]) == {
        "< O",
        "< B-X",
        "< S-Y",
        "O >",
        "E-X >",
        "S-Y >",
        "O O",
        "O B-X",
        "O S-Y",
        "B-X I-X",
        "B-X E-X",
        "I-X I-X",
        "I-X E-X",
        "E-X O",
        "E-X B-X",
        "E-X S-Y",
        "S-Y O",
        "S-Y B-X",
        "S-Y S-Y",
    }


@pytest.mark.parametrize(
    "names", [["NOUN", "VERB"], ["O"], ["B-X", "B", "O"], ["O", "I-X"], ["B-X", "O-X"], []]
)
def test_other_tags_have_no_rules(names):
    assert bio_constraints(names) is None
