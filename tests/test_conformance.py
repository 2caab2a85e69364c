"""The same checks for every rung of every task: see tests/conformance.py."""

from __future__ import annotations

import pytest

from seriatim.tasks import tasks
from tests.conformance import EXCEPTIONS, PAGE, PROPERTIES, every, excepted, page
from tests.specimens import Specimen, specimens

MODELS = every()
ASKED = [(each, name) for name in PROPERTIES for each in MODELS if excepted(each, name) is None]
REFUSED = [
    (each, name)
    for name in PROPERTIES
    for each in MODELS
    if (found := excepted(each, name)) is not None and found.checked
]


def called(value: Specimen | str) -> str:
    return str(value)


@pytest.mark.parametrize(("specimen", "name"), ASKED, ids=called)
def test_a_model_has_this_property(specimen, name):
    PROPERTIES[name][1](specimen)


@pytest.mark.parametrize(("specimen", "name"), REFUSED, ids=called)
def test_an_exception_is_needed(specimen, name):
    try:
        PROPERTIES[name][1](specimen)
    except Exception:  # whatever it is that this model cannot do
        return
    raise AssertionError(f"{specimen} has the property {name!r}: take it off EXCEPTIONS")


def test_every_rung_of_every_card_is_looked_at_and_one_mixture_where_there_are_any():
    for task in tasks():
        found = [each.spec for each in specimens(task.name) if not each.variant]
        assert not task.rungs.keys() - set(found)
        assert (task.mixture is not None) == any("+" in spec for spec in found), task.name


def test_names_of_models_are_told_once_and_exceptions_name_what_there_is():
    names = [repr(each) for each in MODELS]
    assert len(names) == len(set(names))
    for each in EXCEPTIONS:
        assert set(each.properties) <= PROPERTIES.keys()
        assert any(each.holds_for(specimen) for specimen in MODELS), each


def test_the_page_is_what_the_tables_say():
    assert PAGE.read_text() == page(), "write it again: python -m tests.conformance"
