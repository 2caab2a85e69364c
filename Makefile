# Two commands: `make compare` shows the leaderboard, `make test` runs the tests. Both set everything up.
PYTHON ?= python3
ENVIRONMENT = .venv/installed

.PHONY: compare test test-slow test-fresh campaign docs lint benchmarks audit fuzz clean

compare: $(ENVIRONMENT)
	.venv/bin/seriatim compare language python-docs --minutes 3

test: $(ENVIRONMENT) lint
	OMP_NUM_THREADS=1 .venv/bin/python -m pytest -n 2

test-slow: $(ENVIRONMENT)
	OMP_NUM_THREADS=1 .venv/bin/python -m pytest -n 2 -m slow

test-fresh: $(ENVIRONMENT)
	.venv/bin/python -m pytest -m hypothesis --hypothesis-profile fresh

campaign: $(ENVIRONMENT)
	OMP_NUM_THREADS=1 .venv/bin/python -m tests.campaign --out docs/reliability.md

docs: $(ENVIRONMENT)
	NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --quiet --strict

benchmarks: $(ENVIRONMENT)
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test,benchmark]'
	for script in limits ngrams networks text words labels translate series autoencode; do .venv/bin/python benchmarks/$$script.py || exit 1; done

fuzz: $(ENVIRONMENT)
	.venv/bin/python -m pip install --quiet --disable-pip-version-check 'atheris>=3.0'
	OMP_NUM_THREADS=1 .venv/bin/python -m tests.campaign.fuzz --seconds 600

audit: $(ENVIRONMENT)
	.venv/bin/python -m tests.audit_dependencies

lint: $(ENVIRONMENT)
	.venv/bin/ruff check --quiet .
	.venv/bin/ruff format --quiet --check seriatim tests benchmarks
	.venv/bin/mypy --no-error-summary seriatim

$(ENVIRONMENT): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test]'
	touch $(ENVIRONMENT)

clean:
	rm -rf .venv build site *.egg-info
