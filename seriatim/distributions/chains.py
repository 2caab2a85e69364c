"""Chains of tags: a distribution over whole rows of tags, in which neighbours must fit each other.

    p(y_1 .. y_T) = exp(begin[y_1] + sum_t unary[t, y_t] + sum_t pair[y_t-1, y_t] + end[y_T]) / Z

With scores from a network this is a conditional random field (Lafferty, McCallum and Pereira 2001),
with logarithms of probabilities a hidden Markov model. Unlike a categorical at each place it knows
which tags follow each other; minus infinity forbids. Every question is answered by messages along
the row, from its end and, for marginals and gradients, from its beginning:

    behind_t[v] = join_w  pair[v, w] + unary[t + 1, w] + behind_t+1[w]          behind_T = end

join is log-sum-exp for Z and samples, and max for the best row (Viterbi 1967). The gradient of log
Z is the marginals.

A chain of order n > 1 remembers the last n tags: `pair` has n + 1 axes and `end` has n, each with a
place more than there are tags, for START, which stands before every row and nowhere else.
Shapes: B rows, T time, K tags, R = K^(n-1), so that (R, K) and (K, R) are the K^n states by their
newest and by their oldest tag; R = 1 for pairs.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seriatim.distributions.symbols import Distribution, drawn
from seriatim.layers.devices import wide
from seriatim.layers.linear import Linear

LOWEST = torch.finfo(torch.float64).min


DEEPEST = 700.0  # exp(-700) is still a number


Join = Callable[[Tensor, int], Tensor]  # torch.logsumexp or torch.amax


def onward(x: Tensor, pair: Tensor, join: Join) -> Tensor:
    """(B, R, K) scores of states -> (B, R, K), of those a tag later."""
    return join(x.reshape(len(x), *pair.shape[:2], 1) + pair, 1)


def backward(x: Tensor, pair: Tensor, join: Join) -> Tensor:
    """(B, R, K) scores of states -> (B, R, K), of those a tag earlier."""
    return join(pair + x[:, None], 3).reshape(x.shape)


def onward_product(x: Tensor, weights: Tensor) -> Tensor:
    """The same for (B, R, K) x and (K, R, K) weights that are multiplied and added: a product of
    matrices for each of R."""
    tags, rest, _ = weights.shape
    return torch.bmm(
        x.reshape(len(x), tags, rest).permute(2, 0, 1), weights.transpose(0, 1)
    ).transpose(0, 1)


def backward_product(x: Tensor, weights: Tensor) -> Tensor:
    """The same from a tag to the one before."""
    return torch.bmm(x.transpose(0, 1), weights.permute(1, 2, 0)).permute(1, 2, 0).reshape(x.shape)


class Lattice(NamedTuple):
    """The scores of a chain, time first, and the messages along it."""

    unary: Tensor  # (T, B, 1, K)
    pair: Tensor  # (K, R, K)
    begin: Tensor  # (R, K)
    end: Tensor  # (R, K)
    inside: Tensor  # (T, B) False behind the end of a row

    def ahead(self) -> Tensor:
        """(T, B, R, K) log-sum-exp of all that leads to a state, without its own unary score."""
        return self.sums(self.begin, self.unary, {}, onward, onward_product)

    def behind(self) -> Tensor:
        """(T, B, R, K) log-sum-exp of all that follows a state."""
        return self.sums(
            self.end, self.unary.flip(0), self.ends(), backward, backward_product
        ).flip(0)

    def best_behind(self) -> Tensor:
        """(T, B, R, K) the most that can follow a state."""
        return messages(
            self.end, self.unary.flip(0), self.ends(), lambda x: backward(x, self.pair, torch.amax)
        ).flip(0)

    def ends(self) -> dict[int, Tensor]:
        """The rows that end at each place, counted from the end."""
        lengths = self.inside.sum(0)
        return {
            len(self.inside) - length: (lengths == length).nonzero()[:, 0]
            for length in lengths.unique().tolist()
            if length
        }

    def sums(
        self,
        first: Tensor,
        unary: Tensor,
        anew: dict[int, Tensor],
        step: Callable,
        product: Callable,
    ) -> Tensor:
        """Messages joined by log-sum-exp: by products of matrices, unless scores are so far apart
        that some would be lost."""
        weights, top = self.weights()

        def through(x: Tensor) -> Tensor:
            """Messages a place further, with the best of each row put aside."""
            most = highest(x)
            return product(x.sub_(most).exp_(), weights).log_().add_(most)

        found = messages(first, unary + top, anew, through)
        return (
            messages(first, unary, anew, lambda x: step(x, self.pair, torch.logsumexp))
            if self.deep(found + unary)
            else found
        )

    def weights(self) -> tuple[Tensor, Tensor]:
        """(K, R, K) W and a number: exp(pair) = W exp(number), W at most 1."""
        top = self.pair.amax().clamp(min=LOWEST)
        return (self.pair - top).exp(), top

    def deep(self, scores: Tensor) -> bool:
        """Whether a state lies so far below the best of its row that it may be lost on its way
        through a pair."""
        spread = self.pair.amax() - self.pair.masked_fill(self.pair.isneginf(), torch.inf).amin()
        return bool(
            (highest(scores) - scores).masked_fill(scores.isneginf(), 0.0).amax() + spread > DEEPEST
        )


def highest(scores: Tensor) -> Tensor:
    """(..., R, K) -> (..., 1, 1) the best state, as a number even where none is possible."""
    return scores.amax((-2, -1), keepdim=True).clamp_(min=LOWEST)


def messages(
    first: Tensor, unary: Tensor, anew: dict[int, Tensor], through: Callable[[Tensor], Tensor]
) -> Tensor:
    """(T, B, ...) what each place hears: at the beginning, and where a row begins anew, `first`;
    elsewhere what comes through from the place before."""
    found = first.expand(*unary.shape[:2], *first.shape).clone()
    for t in range(1, len(found)):
        found[t] = through(found[t - 1] + unary[t - 1])
        if t in anew:
            found[t, anew[t]] = first
    return found


class LogPartition(torch.autograd.Function):
    """(B,) log Z of a lattice. Its gradient: the probability of each tag at each place, and how
    often each pair is expected."""

    @staticmethod
    def forward(ctx: Any, *scores: Tensor) -> Tensor:
        """The fields of a `Lattice` -> (B,)."""
        lattice = Lattice(*scores)
        behind = lattice.behind()
        log_z = (lattice.begin + lattice.unary[0] + behind[0]).logsumexp((1, 2))
        ctx.save_for_backward(*scores, behind, log_z)
        return log_z

    @staticmethod
    def backward(ctx: Any, by: Tensor) -> tuple[Tensor | None, ...]:
        """(B,) slopes -> those of the scores; whether a place is inside has none."""
        *scores, behind, log_z = ctx.saved_tensors
        lattice, by = Lattice(*scores), by[:, None, None]  # (B, 1, 1)
        ahead = lattice.ahead() + lattice.unary
        possible = lattice.inside[:, :, None, None] & (ahead + behind > -torch.inf)
        behind = (behind - log_z[:, None, None]).masked_fill(~possible, -torch.inf)
        states = (ahead + behind).exp() * by  # (T, B, R, K)
        last = lattice.inside & ~torch.cat(
            [lattice.inside[1:], torch.zeros_like(lattice.inside[:1])]
        )
        return (
            states.sum(2, keepdim=True),
            expected_pairs(lattice, ahead, behind + lattice.unary, by),
            states[0].sum(0),
            states[last].sum(0),
            None,
        )


def expected_pairs(lattice: Lattice, ahead: Tensor, behind: Tensor, by: Tensor) -> Tensor:
    """(K, R, K) how often each step is expected, from (T, B, R, K) scores up to each place and from
    it on."""
    weights, top = lattice.weights()
    # (T - 1, B, K, R), (T - 1, B, R, K)
    before, after = ahead[:-1].reshape(-1, len(by), *weights.shape[:2]), behind[1:]
    if lattice.deep(ahead):
        return ((before[..., None] + lattice.pair + after[:, :, None]).exp() * by[..., None]).sum(
            (0, 1)
        )
    most = highest(before)
    return weights * torch.einsum(
        "tbvr,tbrw->vrw", (before - most).exp(), (after + most + top).exp() * by
    )


class Chain(Distribution):
    """p(y) of whole rows: (B, T, K) scores of tags, (K, K) of pairs, (K,) of the first and of the
    last tag, (B,) lengths."""

    def __init__(self, unary: Tensor, pair: Tensor, begin: Tensor, end: Tensor, lengths: Tensor):
        self.inside = torch.arange(unary.shape[1], device=unary.device) < lengths[:, None]  # (B, T)
        self.unary, self.lengths = wide(unary).masked_fill(~self.inside[..., None], 0.0), lengths
        self.pair, self.begin, self.end = wide(pair), wide(begin), wide(end)

    @property
    def lattice(self) -> Lattice:
        """All scores as messages want them."""
        tags, unary, begin, end = (
            len(self.end),
            self.unary,
            self.begin[None],
            self.end.reshape(-1, len(self.end)),
        )
        if self.end.dim() > 1:  # START is a tag before the first place and at no other
            unary, begin = (
                F.pad(unary, (0, 1), value=-torch.inf),
                F.pad(begin, (0, 1, len(end) - 1, 0), value=-torch.inf),
            )
        return Lattice(
            unary.transpose(0, 1)[:, :, None],
            self.pair.reshape(tags, -1, tags),
            begin,
            end,
            self.inside.t(),
        )

    def log_partition(self) -> Tensor:
        """(B,) log Z, differentiable."""
        return LogPartition.apply(*self.lattice)

    def score(self, y: Tensor) -> Tensor:
        """(B, T) tags -> (B,) log p + log Z."""
        tags, order = len(self.end), self.end.dim()
        y = y.masked_fill(~self.inside, 0)
        seen = F.pad(y, (order - 1, 0), value=tags - 1)  # (B, n - 1 + T): after START
        # (B, T) in [0, R K)
        states = (
            seen.unfold(1, order, 1) * tags ** torch.arange(order - 1, -1, -1, device=y.device)
        ).sum(2)
        steps = self.pair.reshape(-1, tags)[states[:, :-1], y[:, 1:]].masked_fill(
            ~self.inside[:, 1:], 0.0
        )
        last = states.gather(1, self.lengths.clamp(min=1)[:, None] - 1)[:, 0]  # (B,)
        places = self.unary.gather(2, y[..., None])[..., 0]  # (B, T)
        return self.begin[y[:, 0]] + places.sum(1) + steps.sum(1) + self.end.flatten()[last]

    def log_prob(self, y: Tensor) -> Tensor:
        """(B, T) tags -> (B,): whole rows, whatever stands behind their ends. An empty row is
        certain."""
        score = self.score(y)
        return torch.where(score.isinf(), score, score - self.log_partition()).masked_fill(
            self.lengths == 0, 0.0
        )

    def total(self, y: Tensor, weights: Tensor, smoothing: float = 0.0) -> Tensor:
        """sum_b log_prob(y_b) times the mean weight of its places."""
        return (self.log_prob(y) * (weights.sum(1) / self.lengths.clamp(min=1))).sum()

    @torch.no_grad()
    def log_marginals(self) -> Tensor:
        """(B, T, K) log p(y_t); 0 behind the end."""
        lattice = self.lattice
        scores = (lattice.ahead() + lattice.unary + lattice.behind()).logsumexp(2)  # (T, B, K)
        scores = scores - scores.logsumexp(2, keepdim=True)
        return (
            scores[:, :, : self.unary.shape[2]]
            .transpose(0, 1)
            .masked_fill(~self.inside[..., None], 0.0)
        )

    def mode(self) -> Tensor:
        """(B, T) the most probable row (Viterbi); 0 behind the end."""
        return self.walk(self.lattice.best_behind(), lambda scores: scores.argmax(1))

    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        """(B, T) rows drawn by their probability; 0 behind the end."""
        return self.walk(
            self.lattice.behind(), lambda scores: drawn(scores.softmax(1), generator)[:, 0]
        )

    @torch.no_grad()
    def walk(self, behind: Tensor, choose: Callable[[Tensor], Tensor]) -> Tensor:
        """(T, B, R, K) messages -> (B, T): tag after tag, each chosen by (B, choices) scores with
        all that can follow."""
        unary, pair, begin, _, inside = self.lattice
        (tags, rest, _), rows = pair.shape, torch.arange(len(self.lengths), device=pair.device)
        # (B,) in [0, R K)
        state = choose((begin + unary[0] + behind[0]).flatten(1).where(inside[0, :, None], 0.0))
        y = [state % tags]
        for t in range(1, len(unary)):
            newer = state % rest  # (B,) without its oldest tag
            scores = pair.flatten(0, 1)[state] + unary[t, :, 0] + behind[t, rows, newer]  # (B, K)
            y.append(choose(scores.where(inside[t, :, None], 0.0)))
            state = newer * tags + y[-1]
        return torch.stack(y, 1).masked_fill(~self.inside, 0)

    @torch.no_grad()
    def best_rows(self, count: int) -> list[list[tuple[list[int], float]]]:
        """For each row its `count` most probable tags with their log_prob, best first; fewer if no
        others are possible."""
        lattice, found = self.lattice, []
        pair, begin, behind = (
            lattice.pair.flatten(0, 1).tolist(),
            lattice.begin.flatten().tolist(),
            lattice.best_behind().flatten(2),
        )
        for row, (length, log_z) in enumerate(
            zip(self.lengths.tolist(), self.log_partition().tolist(), strict=True)
        ):
            rows = search(
                count,
                lattice.unary[:length, row, 0].tolist(),
                pair,
                begin,
                behind[:length, row].tolist(),
            )
            found.append([(tags, score - log_z) for tags, score in rows] if length else [([], 0.0)])
        return found

    def __getitem__(self, rows: Any) -> Self:
        """Some of the rows: a slice, a mask or their numbers."""
        return type(self)(self.unary[rows], self.pair, self.begin, self.end, self.lengths[rows])


def search(
    count: int, unary: list, pair: list, begin: list, behind: list
) -> list[tuple[list[int], float]]:
    """The best rows with their scores: beginnings are extended in the order of the most they can
    become (Soong and Huang 1991)."""
    tags, states = len(pair[0]), len(begin)
    found: list[tuple[list[int], float]] = []
    heap: list[tuple[float, float, int, list[int]]] = []

    def offer(score: float, state: int, row: list[int]) -> None:
        """Put a beginning among the others, unless nothing can follow it."""
        most = score + behind[len(row) - 1][state]
        if most > -torch.inf:
            heapq.heappush(heap, (-most, score, state, row))

    for state, score in enumerate(begin if unary else ()):
        offer(score + unary[0][state % tags], state, [state % tags])
    while heap and len(found) < count:
        most, score, state, row = heapq.heappop(heap)
        if len(row) == len(unary):
            found.append((row, -most))
        else:
            for tag, step in enumerate(pair[state]):
                offer(
                    score + step + unary[len(row)][tag], (state * tags + tag) % states, [*row, tag]
                )
    return found


class AllowedTags(NamedTuple):
    """Which tags may follow each other, begin and end a row: (K, K), (K,), (K,) of True and
    False."""

    pair: Tensor
    begin: Tensor
    end: Tensor


class ChainHead(nn.Module):
    """From hidden vectors to chains: unary scores are a linear map of each vector, all others are
    learned numbers."""

    no_pair: Tensor  # (K, K) True where two tags may not follow each other
    no_begin: Tensor  # (K,)
    no_end: Tensor  # (K,)

    def __init__(self, width: int, labels: int, allowed: AllowedTags | None = None):
        super().__init__()
        self.unary, self.pair = Linear(width, labels), nn.Parameter(torch.zeros(labels, labels))
        self.begin, self.end = nn.Parameter(torch.zeros(labels)), nn.Parameter(torch.zeros(labels))
        for name, free in (("pair", self.pair), ("begin", self.begin), ("end", self.end)):
            forbidden = (
                torch.zeros(free.shape, dtype=torch.bool, device="cpu")
                if allowed is None
                else ~getattr(allowed, name)
            )
            self.register_buffer(f"no_{name}", forbidden, persistent=False)

    def forward(self, hidden: Tensor, lengths: Tensor) -> Chain:
        """(B, T, D), (B,) -> B chains."""
        pair, begin, end = (
            scores.masked_fill(forbidden, -torch.inf)
            for scores, forbidden in (
                (self.pair, self.no_pair),
                (self.begin, self.no_begin),
                (self.end, self.no_end),
            )
        )
        return Chain(self.unary(hidden), pair, begin, end, lengths)


def bio_constraints(names: list[str]) -> AllowedTags | None:
    """What tags such as B-X, I-X, O (and E-X, S-X) allow: I-X only after B-X or I-X, and in BIOES
    no end without E-X. None for other names."""
    parts = [name.partition("-") for name in names]
    if not all(
        (kind == "O" and not dash) or (kind in set("BIES") and of) for kind, dash, of in parts
    ) or not any(kind == "B" for kind, *_ in parts):
        return None
    closing = any(kind in "ES" for kind, *_ in parts)  # spans end explicitly
    opened, continues = (
        torch.tensor([kind in each for kind, *_ in parts], device="cpu") for each in ("BI", "IE")
    )
    same = torch.tensor(
        [[of == other for *_, other in parts] for *_, of in parts], device="cpu"
    )  # (K, K)
    joined = opened[:, None] & continues & same
    apart = ~continues.expand(len(parts), -1) & ~(opened[:, None] & closing)
    return AllowedTags(joined | apart, ~continues, ~(opened & closing))
