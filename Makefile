# Every target sets up .venv by itself; nothing but python3 (3.11 or later), git and make is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Kafka's and Delta's connectors come out later than Spark: their tests have a Spark that has them.
CONNECTORS := .venv-connectors
CONNECTED := $(CONNECTORS)/.ready
# Tests wait now and then, mostly for a JVM: two processes more than there are cores.
WORKERS = $(shell expr $$($(PYTHON) -c "import os; print(os.cpu_count())") + 2)
# A process that dies ends the run, which names its test: with a new one in its place, the run would wait for ever.
PARALLEL := --dist loadgroup --max-worker-restart 0
LOCKS := requirements.lock requirements-compiler.lock requirements-java.lock
# The processes of the tests read what the first of them has compiled, assertions included.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo lint test test-full test-sanitize check bench bench-native bench-models bench-spark bench-factorized \
	bench-linear bench-theta bench-signal clean

help:
	@echo "make demo          an order book on Spark: views that follow it, beside Spark SQL"
	@echo "make lint          lint, format, types, layers"
	@echo "make test          the tests, without those marked full"
	@echo "make test-full     all the tests"
	@echo "make test-sanitize the kernels under address and undefined-behaviour sanitizers"
	@echo "make check         make lint, then make test"
	@echo "make bench         one report of all that matters, 20 minutes; QUICK=1 for a first look"
	@echo "make bench-native  the native engine beside its peers; QUICK=1 for a first look"
	@echo "make bench-models  a regression kept fresh beside export and fit; QUICK=1 for a first look"
	@echo "make bench-spark   the pipeline on Spark beside Spark SQL; QUICK=1 for a first look"
	@echo "make bench-factorized  view trees beside other strategies, matrices, triangles; QUICK=1"
	@echo "make bench-linear  matrix programs beside computing them anew; QUICK=1 for a first look"
	@echo "make bench-theta   theta joins: schemes side by side on Spark, loads over time; QUICK=1 for a first look"
	@echo "make bench-signal  signals of many groups beside SciPy group by group; QUICK=1 for a first look"
	@echo "make clean         remove .venv, caches and build outputs"

$(READY): pyproject.toml $(LOCKS) .ci/setup
	@bash .ci/setup "$(PYTHON)" "$(VENV)"
	@touch $@

# What cannot be fetched now is asked for again by the tests, which fail then, and say why.
$(CONNECTED): pyproject.toml $(LOCKS) requirements-connectors.lock .ci/setup tests/maven/jars.py
	@bash .ci/setup "$(PYTHON)" "$(CONNECTORS)" requirements-connectors.lock && \
		echo "setup: fetching the jars of the connectors" && \
		$(CONNECTORS)/bin/python -m tests.maven.jars && touch $@ || \
		echo "setup: the connectors are not ready yet"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

demo: $(READY)
	@$(BIN)/freshview demo

test: $(READY) $(CONNECTED)
	$(BIN)/pytest -n $(WORKERS) $(PARALLEL) -m "not full"

# The pipeline runs on the oldest Spark, too.
test-full: $(READY) $(CONNECTED)
	$(BIN)/pytest -n auto $(PARALLEL) --hypothesis-profile=explore
	$(CONNECTORS)/bin/pytest -m "spark and not full" tests/differential tests/unit/spark tests/unit/pipelines tests/fault
	$(BIN)/pytest tests/differential/test_flow.py -m "full and spark" --master "local-cluster[2,1,2048]"

check: lint test

# Kernels report what they read or overflow wrongly; Python itself is not instrumented, so the
# libraries are loaded before it, and its own leaks are not counted.
test-sanitize: $(READY)
	LD_PRELOAD="$$(c++ -print-file-name=libasan.so) $$(c++ -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0 $(BIN)/pytest -n auto $(PARALLEL) -m "native and not full and not spark" --sanitize \
	tests/differential

bench: $(READY)
	$(BIN)/python -m bench.suite $(if $(QUICK),--quick)

bench-native: $(READY)
	$(BIN)/python -m bench $(if $(QUICK),--quick)

bench-models: $(READY)
	$(BIN)/python -m bench.models $(if $(QUICK),--quick)

bench-spark: $(READY)
	$(BIN)/python -m bench.spark $(if $(QUICK),--quick)

bench-factorized: $(READY)
	$(BIN)/python -m bench.factorized $(if $(QUICK),--quick)
	$(BIN)/python -m bench.factorized --only housing --scale 20 $(if $(QUICK),--quick)
	$(BIN)/python -m bench.factorized --sweep $(if $(QUICK),--quick)
	$(BIN)/python -m bench.factorized_result $(if $(QUICK),--quick)
	$(BIN)/python -m bench.matrix_chain $(if $(QUICK),--quick)
	$(BIN)/python -m bench.triangle $(if $(QUICK),--quick)

bench-linear: $(READY)
	$(BIN)/python -m bench.linear $(if $(QUICK),--quick)
	$(BIN)/python -m bench.linear_spark $(if $(QUICK),--quick)

bench-theta: $(READY)
	$(BIN)/python -m bench.theta $(if $(QUICK),--quick)

bench-signal: $(READY)
	$(BIN)/python -m bench.signals $(if $(QUICK),--quick)

clean:
	rm -rf $(VENV) .cache .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
