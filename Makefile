# Every target sets up .venv by itself; nothing but python3 (3.11 or later), git and make is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help demo test test-full check clean

help:
	@echo "make demo       a live order book: views that follow every change"
	@echo "make test       the tests, without those marked full"
	@echo "make test-full  all the tests"
	@echo "make check      lint, format, types, layers, then the tests"
	@echo "make clean      remove .venv, caches and build outputs"

$(READY): pyproject.toml requirements.lock .ci/setup
	@bash .ci/setup "$(PYTHON)" "$(VENV)"
	@touch $@

demo: $(READY)
	@$(BIN)/freshet demo

test: $(READY)
	$(BIN)/pytest -n auto -m "not full"

test-full: $(READY)
	$(BIN)/pytest -n auto --hypothesis-profile=explore

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n auto -m "not full"

clean:
	rm -rf $(VENV) .cache .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
