# Each target sets up what it needs; what has been done already is skipped quickly.
PYTHON ?= python3
BIN := .venv/bin
ARGS ?=

.PHONY: help setup machine demo lab test check format bench clean

help:     ## this list
	@sed -n 's/^\([a-z]*\):[^#]*## /make \1\t/p' Makefile

setup:    ## .venv with the package, editable, and its tools
	@$(PYTHON) scripts/setup.py

machine: setup    ## what only the tests need: Chromium, node test servers, older kernels
	@$(BIN)/python scripts/machine.py

demo: setup    ## the local model, and the quickstart notebook run for real
	@$(BIN)/agent-magics local install
	@$(BIN)/python scripts/demo.py notebooks/01_quickstart.ipynb

lab: setup    ## JupyterLab on the notebooks
	@$(BIN)/jupyter lab --notebook-dir=notebooks

test: machine    ## every test; ARGS="-k bridge" for some of them
	@$(BIN)/python -m pytest -n 2 --dist loadgroup $(ARGS)

check: setup    ## ruff, import-linter, pyright (strict for the package)
	@$(BIN)/python scripts/check.py

format: setup    ## what `check` would ask for
	@$(BIN)/ruff check --quiet --fix .
	@$(BIN)/ruff format --quiet .

bench: machine    ## the benchmarks, printed as tables; never part of the tests
	@for file in tests/benchmarks/bench_*.py; do \
		$(BIN)/python -m tests.benchmarks.$$(basename $$file .py) || exit 1; \
	done

clean:    ## remove everything that make made
	rm -rf .venv .build dist .ruff_cache .import_linter_cache .hypothesis
