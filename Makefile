# Commands of the project; `make` alone lists them. Environments are made on demand and kept.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PORT ?= 8080
MODEL ?= scripted
WORKERS ?= 2
SEEDS ?= 2000
PROVIDERS ?= openai

BIN := .venv/bin
UV := $(BIN)/uv
INSTALL := $(UV) pip install --quiet --require-hashes
SYNC := $(UV) pip sync --quiet --require-hashes --compile-bytecode
LOCAL_LAYERS := .local/layers/core/requirements.txt .local/layers/agent/requirements.txt

.PHONY: help
help: ## List the commands
	@sed -n 's/^\([a-z0-9]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 10

# ---- Environments

.PHONY: setup
setup: .venv/.ready .venv-emulator/.ready $(LOCAL_LAYERS) ## Make the environments; quick when nothing changed
	@:

.venv/.ready: requirements/dev.txt requirements/uv.txt pyproject.toml
	@$(BIN)/python -c '' 2>/dev/null || { python=$$(.ci/find-python) && "$$python" -m venv --clear .venv; }
	@$(UV) --version >/dev/null 2>&1 || $(BIN)/python -m pip install --quiet --require-hashes -r requirements/uv.txt
	@$(UV) pip sync --quiet --require-hashes --python $(BIN)/python requirements/dev.txt
	@$(UV) pip install --quiet --no-deps --no-build-isolation --python $(BIN)/python --editable .
	@touch $@

# The emulator runs functions with its own interpreter, and pins botocore: alone in its environment.
.venv-emulator/.ready: requirements/emulator.txt .venv/.ready
	@.venv-emulator/bin/python -c '' 2>/dev/null || { python=$$(.ci/find-python) && "$$python" -m venv --clear --without-pip .venv-emulator; }
	@$(SYNC) --python .venv-emulator/bin/python requirements/emulator.txt
	@touch $@

# What the layers hold, for this machine; the copy of the requirements says what was installed.
.local/layers/%/requirements.txt: layers/%/requirements.txt .venv-emulator/.ready
	@rm -rf $(@D)
	@$(INSTALL) --no-deps --compile-bytecode --python .venv-emulator/bin/python --target $(@D) -r $<
	@$(if $(wildcard $(<D)/wheels/*.whl),$(UV) pip install --quiet --offline --no-deps --compile-bytecode --python .venv-emulator/bin/python --target $(@D) $(wildcard $(<D)/wheels/*.whl))
	@cp $< $@

# Packages of the deployer's own, see docs/custom-layers.md.
.local/layers/agent/requirements.txt: $(wildcard layers/agent/wheels/*.whl)

# aws-sam-cli is large and wants the very Python of the functions.
.venv-sam/.ready: requirements/sam.txt .venv/.ready
	@.venv-sam/bin/python -c '' 2>/dev/null || { python=$$(.ci/find-python 3.13) && "$$python" -m venv --clear --without-pip .venv-sam; }
	@$(UV) pip sync --quiet --require-hashes --python .venv-sam/bin/python requirements/sam.txt
	@touch $@

.PHONY: lock
lock: .venv/.ready ## Compile the hashed requirements from pyproject.toml; UPGRADE=1 takes newer versions
	@$(BIN)/python requirements/lock.py --uv $(UV) $(if $(UPGRADE),--upgrade)

# ---- Running

.PHONY: run
run: setup ## Start the local stack with a sample run and stay; PORT=8080
	@exec $(BIN)/python -m sayso_local.demo --stay --port $(PORT) --model $(MODEL)

.PHONY: demo
demo: setup ## The sample run without a person, each step with its time; MODEL=stub calls a model over HTTP
	@$(BIN)/python -m sayso_local.demo --model $(MODEL)

# ---- Checking

.PHONY: test
test: setup ## Run all tests
	@$(BIN)/pytest --numprocesses $(WORKERS) --dist loadgroup

.PHONY: e2e
e2e: setup ## Run the tests that need the local stack or a browser
	@$(BIN)/pytest -m 'stack or e2e'

.PHONY: crash
crash: .venv/.ready ## Fail every call of every scenario and write docs/reliability-table.md; SEEDS=10000, CASE='managed:17=lost'
	@PYTHONPATH=tests $(BIN)/python -m crash --seeds $(SEEDS) --workers $(WORKERS) $(if $(CASE),--case '$(CASE)')

.PHONY: mutants
mutants: .venv/.ready ## Disable each guard in a copy, see which test notices, write docs/mutants-table.md
	@PYTHONPATH=tests $(BIN)/python -m mutants --workers $(WORKERS)

.PHONY: check
check: .venv/.ready ## Format, lint, types, import contracts, template, requirements, fast tests
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/cfn-lint template.yaml
	@$(BIN)/python requirements/lock.py --check
	@$(BIN)/pytest --quiet tests/unit

# ---- Building

SAM := SAM_CLI_TELEMETRY=0 AWS_DEFAULT_REGION=us-east-1 PATH="$(CURDIR)/.venv-sam/bin:$(CURDIR)/$(BIN):$$PATH" .venv-sam/bin/sam

.PHONY: build
build: .venv-sam/.ready ## Build what is deployed; needs Python 3.13. PROVIDERS="openai anthropic bedrock gemini"
	@PROVIDERS="$(PROVIDERS)" $(SAM) build --parallel
	@$(BIN)/python layers/check_built.py

.PHONY: validate
validate: .venv-sam/.ready ## Check the template as SAM sees it
	@$(SAM) validate --lint
