# Everything sets itself up: on a machine with Python 3.11 or newer and git, `make demo` or `make test` is all to type.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$p && break; done)
UV ?= $(shell command -v uv 2>/dev/null)
VENV := .venv
BIN := $(VENV)/bin
REAL := $(CURDIR)/$(VENV)/real
WORKERS ?= 2
FAULTS_SEED ?= 1
FAULTS_LOG ?= build/faults.jsonl
MINUTES ?= 120
TESTS ?= tests

.PHONY: help demo test test-landlock test-unsandboxed test-real check coverage format format-check lint types docs docs-check bench faults soak honesty lock clean

help:
	@echo "make demo    a whole roadmap with the scripted agent, no account needed"
	@echo "make test    the tests but for the slow ones"
	@echo "make test-landlock     those that touch a sandbox, as on a machine without bubblewrap"
	@echo "make test-unsandboxed  the same, as on a machine without bubblewrap and Landlock"
	@echo "make test-real  real agent programs, pinned, drive a roadmap against a model service of this machine"
	@echo "make check   format, lint, types, tests with coverage, docs current: what CI runs"
	@echo "make docs    write the generated parts of docs/ anew"
	@echo "make bench   ratios against a baseline measured in the same run"
	@echo "make faults  the whole fault regime: hours; counts go to the file FAULTS_LOG, its seed is FAULTS_SEED"
	@echo "make soak    runs under seeded faults for MINUTES, in one process whose memory is watched"
	@echo "make honesty the liar suite: dishonest agents must be caught, honest ones accepted"
	@echo "make lock    requirements/*.lock anew from pyproject.toml (needs uv)"

$(VENV)/.made:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed and was not found. Install it, or name it: make PYTHON=/path/to/python3"; exit 2; }
ifneq ($(UV),)
	$(UV) venv -q --allow-existing --python $(PYTHON) $(VENV)
else
	$(PYTHON) -m venv $(VENV)
endif
	@touch $@

define install
	$(if $(UV),$(UV) pip install -q --python $(BIN)/python,$(BIN)/python -m pip install -q --disable-pip-version-check) --require-hashes -r $(1)
	$(if $(UV),$(UV) pip install -q --python $(BIN)/python,$(BIN)/python -m pip install -q --disable-pip-version-check) --no-deps -e .
	@touch $@
endef

$(VENV)/.run: $(VENV)/.made pyproject.toml requirements/run.lock
	$(call install,requirements/run.lock)

$(VENV)/.dev: $(VENV)/.made pyproject.toml requirements/dev.lock
	$(call install,requirements/dev.lock)
	@touch $(VENV)/.run

demo: $(VENV)/.run
	@$(BIN)/autopilot demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow" $(TESTS)

# The tests that touch a sandbox, as on a machine without bubblewrap, and on one without any sandbox.
test-landlock test-unsandboxed: $(VENV)/.dev
	$(BIN)/python tests/support/worlds.py $(@:test-%=%) \
		$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "sandbox and not slow" $(TESTS)

# Programs apart from our own packages: what they need must not meet what we need. Without them their tests skip.
$(VENV)/.real: $(VENV)/.dev requirements/real.lock tests/real/npm/package.json tests/real/npm/package-lock.json
	$(if $(UV),$(UV) pip install -q --python $(BIN)/python,$(BIN)/python -m pip install -q --disable-pip-version-check) \
		--upgrade --no-deps --require-hashes --target $(REAL)/python -r requirements/real.lock \
		|| echo "Claude Code and Codex could not be installed."
	mkdir -p $(REAL)/npm && cp tests/real/npm/*.json $(REAL)/npm
	cd $(REAL)/npm && npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error \
		|| echo "The programs of npm could not be installed: is Node there?"
	@touch $@

test-real: $(VENV)/.real
	AUTOPILOT_REAL_PROGRAMS=$(REAL)/python/claude_agent_sdk/_bundled:$(REAL)/python/codex_cli_bin/bin:$(REAL)/npm/node_modules/opencode-linux-x64/bin:$(REAL)/npm/node_modules/.bin \
		$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -ra tests/real

check: format-check lint types docs-check coverage

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix-only .

format-check: $(VENV)/.dev
	$(BIN)/ruff format --check .

lint: $(VENV)/.dev
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy

coverage: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -ra -m "not slow" --cov --cov-report=term:skip-covered
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -ra -m slow

docs: $(VENV)/.dev
	$(BIN)/python docs/generate.py

docs-check: $(VENV)/.dev
	$(BIN)/python docs/generate.py --check

bench: $(VENV)/.dev
	@for b in bench/*.py; do echo "== $$b"; $(BIN)/python $$b; done

faults: $(VENV)/.dev
	AUTOPILOT_FAULTS=full AUTOPILOT_FAULTS_SEED=$(FAULTS_SEED) AUTOPILOT_FAULTS_LOG=$(abspath $(FAULTS_LOG)) AUTOPILOT_SOAK=300 \
		$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -q tests/faults tests/crash tests/flow/keepers_test.py \
		tests/contract/soak_test.py

soak: $(VENV)/.dev
	$(BIN)/python tests/faults/soak.py --minutes $(MINUTES) --seed $(FAULTS_SEED) --json build/soak.json

honesty: $(VENV)/.dev
	$(BIN)/python bench/honesty/run.py --jobs $(WORKERS)

lock:
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header pyproject.toml -o requirements/run.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --group dev pyproject.toml -o requirements/dev.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-deps --group real -o requirements/real.lock
	cd tests/real/npm && npm install --package-lock-only --omit-lockfile-registry-resolved --no-audit --no-fund

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage*
