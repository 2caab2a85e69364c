"""Vectors of sequences, and of the symbols in them, as lines and rows."""

from __future__ import annotations

from typing import Any

from seriatim.records import Record, array_of


def vector_lines(record: Record) -> str:
    """A line for each vector: its numbers, behind the symbol where it is one's; a blank line
    between sequences of symbols."""
    parts = []
    for item in record["items"]:
        if "vector" in item:
            parts.append(numbers(item["vector"]))
            continue
        rows = zip(item["tokens"], array_of(item["vectors"]).tolist(), strict=True)
        parts.append("".join(f"{token}\t{numbers(row)}\n" for token, row in rows))
    return "\n".join(parts).rstrip("\n")


def numbers(row: list[float]) -> str:
    """A vector, with tabs between its numbers."""
    return "\t".join(f"{value:.6g}" for value in row)


def vector_rows(record: Record) -> list[dict[str, Any]]:
    """A row for each vector: the sequence it belongs to and what is known of it, and a column for
    each number."""
    rows: list[dict[str, Any]] = []
    for s, item in enumerate(record["items"]):
        known = {k: v for k, v in item.items() if k not in ("vector", "vectors", "tokens")}
        if "vector" in item:
            rows.append({**known, **in_columns(item["vector"])})
            continue
        for token, row in zip(item["tokens"], array_of(item["vectors"]).tolist(), strict=True):
            rows.append({"sequence": s + 1, **known, "token": token, **in_columns(row)})
    return rows


def in_columns(row: list[float]) -> dict[str, float]:
    """A column for each number."""
    return {f"vector {i}": value for i, value in enumerate(row)}
