"""The campaign: what docs/reliability.md promises, tried again and again. `make campaign` runs all of
it, `python -m tests.campaign kills --count 40` some; short forms are among the tests."""
