"""Records keep to their schemas: every verb of every task, with models and data that the schemas were
not made from."""

from __future__ import annotations

import json
from functools import cache

import pytest
from jsonschema import Draft202012Validator

from seriatim import load
from seriatim.errors import SeriatimError
from seriatim.plotting import drawn, pictures_of
from seriatim.tasks import TASKS
from seriatim.tasks import task as card_of
from tests.examples import EXAMPLES
from tests.schemas import (
    FOLDER,
    audits,
    conformances,
    file_of,
    kinds,
    records,
    texts,
    verifications,
    workshop,
)

# pictures of data that no example here has: they are drawn in the tests of their rooms
ELSEWHERE = {"autoencode": {"roll"}}
MADE, OTHER = 0, 1  # what schemas are made from, and what they are held against


@cache
def validator(task: str, verb: str) -> Draft202012Validator:
    schema = json.loads((FOLDER / file_of(task, verb)).read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def hold(task: str, verb: str, record: dict) -> None:
    """A record is what its schema and its card say, and nothing but JSON."""
    assert record["kind"] == kinds()[task, verb]
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    problems = [
        f"{p.json_path}: {p.message[:200]}" for p in validator(task, verb).iter_errors(record)
    ]
    assert not problems, f"{task} {verb} {record.get('model')}: {problems[:5]}"


def test_every_task_and_every_verb_has_an_example():
    assert list(EXAMPLES) == list(TASKS)
    for task, example in EXAMPLES.items():
        assert set(example.asks) == set(card_of(task).verbs)
        assert bool(example.compared) == bool(card_of(task).figures)


@pytest.mark.parametrize("task", EXAMPLES)
def test_every_record_of_a_task_keeps_to_its_schema(task):
    seen, pictures = set(), set()
    for verb, record in records(workshop(OTHER), task):
        hold(task, verb, record)
        seen.add(verb)
        pictures |= drawn_of(record)
    assert seen == {verb for room, verb in kinds() if room == task}
    assert pictures | ELSEWHERE.get(task, set()) >= set(card_of(task).pictures)


def drawn_of(record: dict) -> set[str]:
    """The pictures of a record, each drawn at the narrowest and in the dark; what a record has not
    is refused in words. Altair holds every description against the schema of Vega-Lite."""
    found = set()
    for name in pictures_of(record):
        try:
            chart = drawn(record, name)
        except SeriatimError:
            continue
        assert chart.svg("dark", 390).startswith("<svg") and chart.says.endswith(".")
        json.dumps([chart.rows, chart.body], allow_nan=False)
        found.add(name)
    return found


def test_every_audit_keeps_to_its_schema():
    for record in audits(workshop(OTHER)):
        hold("check", "", record)


def test_every_verification_keeps_to_its_schema():
    for record in verifications(workshop(OTHER)):
        hold("verify", "", record)


def test_every_conformance_keeps_to_its_schema():
    for record in conformances():
        hold("conform", "", record)


def test_a_record_of_a_run_that_was_not_checked_says_so():
    made = workshop(OTHER)
    for task, example in EXAMPLES.items():
        opened = load(made.run(task, next(iter(example.models))), verify=False)
        assert opened.record("any")["verified"] is False
        for verb, card in card_of(task).verbs.items():
            allowed = validator(task, verb).schema["properties"]
            assert "notes" in allowed or not card.runs
            assert allowed.get("verified") == ({"const": False} if card.runs else None)


def test_the_stored_schemas_are_those_that_are_made():
    made = texts(workshop(MADE))
    stored = {path.name: path.read_text() for path in FOLDER.iterdir()}
    assert stored.keys() == made.keys()
    assert [name for name in made if stored[name] != made[name]] == []


def test_a_schema_refuses_what_is_not_of_its_kind():
    record = next(record for verb, record in records(workshop(OTHER), "sets") if verb == "score")
    for wrong in ({"kind": "scores!"}, {"version": 0}, {"more": 1}, {"items": [{"log_prob": "1"}]}):
        assert not validator("sets", "score").is_valid(record | wrong)
    assert not validator("sets", "score").is_valid({"kind": "scores", "version": 1})
