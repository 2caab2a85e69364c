"""What pip-audit answers is told as it is: what it could not look up is not called harmless."""

from __future__ import annotations

from tests.audit_dependencies import newest, understood

UNKNOWN = {"name": "numpy", "skip_reason": "not found"}
CLEAN = {"name": "torch", "version": "2", "vulns": []}
HARMED = {"name": "Jinja2", "version": "3", "vulns": [{"id": "CVE-1"}]}


def test_what_was_not_looked_up_is_not_called_harmless():
    known, words = understood([UNKNOWN], ["numpy"])
    assert not known and words.startswith("not looked up")
    known, words = understood([UNKNOWN, CLEAN], ["numpy", "torch"])
    assert not known and words == "none known; 1 packages looked up, 1 could not be"


def test_what_is_known_is_told():
    assert understood([CLEAN, HARMED], ["torch", "jinja2"]) == (
        True,
        "Jinja2 CVE-1; 2 packages looked up",
    )
    assert not understood([CLEAN, HARMED], ["torch"])[0]  # not one of ours


def test_a_package_has_a_date():
    assert newest("numpy")[:2] == "20"
