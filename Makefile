# Everything happens in .venv; PYTHON chooses the interpreter (3.11 or newer).
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
# Processes that share the tests: as many as cores, unless WORKERS says how many.
WORKERS ?= auto
# What a JVM has read of Spark's classes: slow tests start a dozen, each in half the processor time.
CLASSES := $(VENV)/spark-classes.jsa

# apache-flink cannot share an environment with ortools (protobuf); 2.3 runs on Python 3.9 to 3.12, and needs a JDK.
FLINK_VENV  := .venv-flink
FLINK_STAMP := $(FLINK_VENV)/.installed

.PHONY: help setup demo docs test test-slow test-thorough test-flink test-times lint types arrows unit coverage format bench \
	reproduce clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: $(STAMP) ## make .venv with ftplan, all extras and the development tools

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "ftplan needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable '.[all]' --group dev
	@java -version >/dev/null 2>&1 || \
		echo "No Java found: statistics are computed by Sail, and the tests that need Apache Spark are skipped."
	@which chromium chromium-browser google-chrome 2>/dev/null | grep -q . || \
		echo "No Chromium found: the tests that look at pages in a browser are skipped (apt-get install chromium)."
	@which prometheus >/dev/null 2>&1 || \
		echo "No Prometheus found: the tests that ask a real one are skipped (apt-get install prometheus)."
	@touch $@

demo: $(STAMP) ## the main job on real data: statistics from a log, then four checkpoint allocations
	@$(BIN)/python examples/flights/demo.py

docs: export NO_MKDOCS_2_WARNING = 1
docs: $(STAMP) ## write what pages generate, and build the documentation, strictly, as site/
	$(BIN)/python -m docs.generate
	$(BIN)/python -m mkdocs build --strict
	@echo "site/index.html"

test: lint ## lint, import arrows, types, and all tests that are quick
	@$(MAKE) --no-print-directory --jobs=2 --keep-going types unit arrows

test-slow: $(STAMP) $(CLASSES) ## the other tests: installation, browser, clusters, notebook, papers' figures
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -m slow -n $(WORKERS)

test-thorough: export FTPLAN_TEST_EXAMPLES = 1.0
test-thorough: test test-slow ## both, with every random example that a test names, not a third; takes longer

test-times: $(STAMP) $(CLASSES) ## measure what the tests cost, by file, and write it as tests/TIMES.md
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -m 'not flink' -n $(WORKERS) -p tests.times --times tests/TIMES.md

test-flink: $(STAMP) $(FLINK_STAMP) ## kill task managers of a real Flink job and measure; downloads 0.6 GB the first time
	FLINK_PYTHON=$(abspath $(FLINK_VENV))/bin/python $(BIN)/python -m pytest -m flink tests/live -s

$(FLINK_STAMP):
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 9) <= sys.version_info[:2] <= (3, 12))' || \
		{ echo "apache-flink 2.3 needs Python 3.9 to 3.12: make test-flink PYTHON=python3.12"; exit 2; }
	@javac -version >/dev/null 2>&1 || \
		{ echo "Flink and its job need a JDK of 11 or newer (Debian: apt-get install default-jdk-headless)"; exit 2; }
	$(PYTHON) -m venv $(FLINK_VENV)
	@$(FLINK_VENV)/bin/python -m pip install --quiet 'apache-flink==2.3.0' || \
		{ echo "apache-flink 2.3.0 could not be installed: see what pip says above; 0.6 GB come from PyPI"; exit 2; }
	@touch $@

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

arrows: $(STAMP)
	$(BIN)/lint-imports

# Processes start in the tests: compiled files are kept, whatever the environment says.
unit: $(STAMP)
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(WORKERS)

coverage: $(STAMP) ## lines of planners, measures and simulation that their unit and contract tests run; takes a while
	$(BIN)/python -m pytest -n $(WORKERS) -p tests.plain_kernels --cov=ftplan.planners --cov=ftplan.model \
		--cov=ftplan.simulation --cov-report=term:skip-covered \
		tests/planners tests/simulation tests/model tests/test_planner_contracts.py

$(CLASSES): $(STAMP)
	@$(BIN)/python -m tests.spark_classes $@ >/dev/null 2>&1 || touch $@

format: $(STAMP) ## reformat the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP) ## measure everything that benchmarks/RESULTS.md reports
	$(BIN)/python benchmarks/run_all.py

reproduce: $(STAMP) ## make the papers' figures again, with verdicts, as benchmarks/REPRODUCED.md; takes a while
	$(BIN)/python benchmarks/reproduce

clean: ## remove what the other targets made
	rm -rf $(VENV) $(FLINK_VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis artifacts site examples/*/out
