"""The tables of an n-gram model: for each length sorted keys, log p, and log g of the contexts.
Look-ups on whole arrays.

Numbers of nodes, keys and levels are those of `counts`. Tables may be mapped from a file, and log p
and log g may be stored in 8 bits. Shapes: M queries, K nodes of a level, V symbols.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

MANY = 4096  # queries worth sorting


CHECKED = 1 << 22  # levels up to this many nodes are checked one by one when they are loaded


class Quantised:
    """Values in 8 bits: the number of a bin, and the mean of each bin."""

    def __init__(self, codes: np.ndarray, means: np.ndarray):
        self.codes, self.means = codes, means  # (K,) uint8, (256,) float32

    @classmethod
    def of(cls, values: np.ndarray) -> Quantised:
        """Bins of equal size, as KenLM's; 0 and minus infinity stay what they are."""
        plain = np.isfinite(values) & (values != 0)
        edges = (
            np.quantile(values[plain], np.linspace(0, 1, 255)[1:-1]) if plain.any() else np.zeros(0)
        )  # 254 bins
        codes = np.where(values == 0, 254, 255).astype(np.uint8)
        codes[plain] = np.searchsorted(edges, values[plain], "right")
        sums, sizes = (
            np.bincount(codes[plain], values[plain], 256),
            np.bincount(codes[plain], minlength=256),
        )
        means = (sums / np.maximum(sizes, 1)).astype(np.float32)
        means[254:] = 0.0, -np.inf
        return cls(codes, means)

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, places: np.ndarray) -> np.ndarray:
        return self.means[self.codes[places]]


class Tables:
    """Sorted keys of every level with what belongs to each."""

    def __init__(
        self, base: int, keys: list, log_p: list, log_g: list, counts: list, amounts: list
    ):
        self.base = base  # V + 1: the vocabulary and START
        # of level n at [n - 1]; log g of the contexts of level n - 1 at [n - 1]
        self.keys, self.log_p, self.log_g = keys, log_p, log_g
        # how often each occurred, and what smoothing made of that (255: or more)
        self.counts, self.amounts = counts, amounts

    @classmethod
    def nothing(cls, base: int, levels: int) -> Tables:
        """Nothing was seen: every symbol is equally likely."""
        made = cls(base, [], [], [], [], [])
        for n in range(1, levels + 1):
            keys = np.arange(base if n == 1 else 0)
            log_p = np.full(len(keys), -np.log(base - 1), np.float32)
            contexts = {1: 1, 2: base}.get(n, 0)
            made.take_level(
                keys,
                log_p,
                np.zeros(contexts, np.float32),
                np.zeros(len(keys), np.int32),
                np.zeros(len(keys), np.uint8),
            )
        made.log_p[0][-1] = -np.inf
        return made

    def take_level(
        self,
        keys: np.ndarray,
        log_p: np.ndarray | Quantised,
        log_g: np.ndarray | Quantised,
        counts: np.ndarray,
        amounts: np.ndarray,
    ) -> None:
        """Add the next longer n-grams."""
        for levels, level in (
            (self.keys, keys),
            (self.log_p, log_p),
            (self.log_g, log_g),
            (self.counts, counts),
            (self.amounts, amounts),
        ):
            levels.append(level)

    # -- looking up
    def child(self, level: int, node: np.ndarray, symbol: np.ndarray) -> np.ndarray:
        """(M,) nodes of a level, (M,) symbols -> (M,) nodes of the next level, -1 for those never
        seen."""
        if level == 0:
            return symbol
        keys, wanted = self.keys[level], node * np.int64(self.base) + symbol
        bits = len(wanted).bit_length()
        if (
            len(wanted) < MANY
            or (len(self.keys[level - 1]) * self.base).bit_length() + bits > 63
            or not len(keys)
        ):
            place = np.searchsorted(keys, wanted)
            return np.where((node >= 0) & (at(keys, place) == wanted), place, -1)
        packed = wanted  # sorted questions find their answers close together
        packed <<= bits
        packed |= np.arange(len(wanted))
        packed.sort()
        order = packed & ((1 << bits) - 1)
        packed >>= bits
        new = np.ones(len(packed), bool)
        new[1:] = packed[1:] != packed[:-1]
        asked = packed[new]  # each question once
        place = np.searchsorted(keys, asked)
        place[keys[np.minimum(place, len(keys) - 1)] != asked] = -1
        found = np.empty(len(packed), np.int64)
        found[order] = place[np.cumsum(new) - 1]
        return found

    def find(self, grams: np.ndarray) -> np.ndarray:
        """(M, n) symbols -> (M,) nodes of level n, -1 for those never seen."""
        node = np.zeros(len(grams), np.int64)
        for level in range(grams.shape[1]):
            node = self.child(level, node, grams[:, level])
        return node

    def children_of(
        self, level: int, node: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(M,) nodes of a level -> all their children: the row each belongs to, its symbol, and its
        node on the next level."""
        keys, known = self.keys[level], node >= 0
        first = np.where(known, np.searchsorted(keys, node * np.int64(self.base)), 0)
        many = np.where(known, np.searchsorted(keys, (node + 1) * np.int64(self.base)), 0) - first
        row = np.repeat(np.arange(len(node)), many)
        place = np.repeat(first - np.cumsum(many) + many, many) + np.arange(many.sum())
        symbol = keys[place] % self.base
        predicted = symbol < self.base - 1  # START never follows
        return row[predicted], symbol[predicted], place[predicted]

    def spelled(self, level: int, node: np.ndarray) -> np.ndarray:
        """(M,) nodes of a level -> (M, level) their symbols."""
        symbols = np.zeros((len(node), level), np.int64)
        for n in range(level, 0, -1):
            node, symbols[:, n - 1] = np.divmod(self.keys[n - 1][node], self.base)
        return symbols

    # -- keeping
    def arrays(self) -> dict[str, Tensor]:
        """All tables by name; the keys of level 1 are the symbols themselves."""
        found: dict[str, np.ndarray] = {}
        for n in range(1, len(self.keys) + 1):
            if n > 1:
                found[f"keys.{n}"] = self.keys[n - 1]
            for name, table in (("log_p", self.log_p[n - 1]), ("log_g", self.log_g[n - 1])):
                found |= (
                    {f"{name}.{n}": table}
                    if isinstance(table, np.ndarray)
                    else {f"{name}.{n}.codes": table.codes, f"{name}.{n}.means": table.means}
                )
            found |= {f"counts.{n}": self.counts[n - 1], f"amounts.{n}": self.amounts[n - 1]}
        return {name: torch.from_numpy(array) for name, array in found.items()}

    @classmethod
    def of_arrays(cls, base: int, levels: int, arrays: dict[str, Tensor]) -> Tables:
        """What `arrays` gave; ValueError if it does not fit together."""
        made, nodes, left = cls(base, [], [], [], [], []), 1, dict(arrays)

        def taken(name: str, kind: torch.dtype, *lengths: int) -> np.ndarray:
            """A table by name, of this kind and of one of these lengths."""
            array = left.pop(name, None)
            if (
                array is None
                or array.dtype != kind
                or array.dim() != 1
                or (lengths and len(array) not in lengths)
            ):
                raise ValueError(f"the table {name} is missing or does not fit")
            return array.numpy()

        def values(name: str, length: int) -> np.ndarray | Quantised:
            """Numbers as they are, or in 8 bits."""
            if name in left:
                return taken(name, torch.float32, length)
            return Quantised(
                taken(f"{name}.codes", torch.uint8, length),
                taken(f"{name}.means", torch.float32, 256),
            )

        for n in range(1, levels + 1):
            keys = np.arange(base) if n == 1 else taken(f"keys.{n}", torch.int64)
            if (
                n > 1
                and len(keys)
                and (
                    keys[0] < 0
                    or keys[-1] >= nodes * base
                    or (len(keys) <= CHECKED and np.any(np.diff(keys) <= 0))
                )
            ):
                raise ValueError(f"the keys of level {n} are not in order")
            made.take_level(
                keys,
                values(f"log_p.{n}", len(keys)),
                values(f"log_g.{n}", nodes),
                taken(f"counts.{n}", torch.int32, len(keys), 0),
                taken(f"amounts.{n}", torch.uint8, len(keys), 0),
            )
            nodes = len(keys)
        counted = {len(counts) > 0 for counts, keys in zip(made.counts, made.keys) if len(keys)}
        if len(counted) > 1:
            raise ValueError("some of its levels are counted, and some are not")
        if left:
            raise ValueError(f"tables of another model: {', '.join(sorted(left))}")
        return made


def at(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """values[places], with -1 where a place is outside."""
    inside = (places >= 0) & (places < len(values))
    found = np.full(places.shape, -1, values.dtype)
    found[inside] = values[places[inside]]
    return found


def every(table: np.ndarray | Quantised) -> np.ndarray:
    """All values of a table."""
    return table if isinstance(table, np.ndarray) else table[np.arange(len(table))]
