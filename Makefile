# `make run` starts the application, `make test` tests it; both make what they need first.
PYTHON ?= python3
BIN := .venv/bin
BENCHES := start accounting decode scale train predict paint sanitize detect cadp_step attack

.PHONY: run test test-all bench assets lint format models browser clean

run: .venv/.installed
	@$(BIN)/python -m core models
	@$(BIN)/python app.py

test: .venv/.installed-dev models browser
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-all: .venv/.installed-dev models browser
	$(BIN)/python -m pytest -m "slow or not slow" --timeout 3600

bench: .venv/.installed-dev models
	@for name in $(BENCHES); do $(BIN)/python -m tests.bench.$$name || exit 1; done

# Rebuilds what ships and is made by a program; about an hour and a half on two cores.
assets: .venv/.installed-dev models
	$(BIN)/python -m core corpus demo
	$(BIN)/python -m core train demo --halves --layers 8 --rank 4 --passes 5 --whole-passes 4 --rate 0.003 \
	  --kept-rank 2 --w-max 0.7 --output assets/ensemble
	$(BIN)/python -m core detector train-second
	$(BIN)/python -m core detector train --folds 3
	$(BIN)/python -m core detector evaluate

lint: .venv/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/hadolint Dockerfile

format: .venv/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

models: .venv/.installed-dev
	@$(BIN)/python -m core models

browser:
	@command -v chromium >/dev/null || { \
	  echo "Installing Chromium for the browser tests"; \
	  sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	  $$sudo apt-get update -q && $$sudo apt-get install -q -y --no-install-recommends chromium fonts-dejavu-core; }

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "SubMix Studio needs Python 3.11 or newer; set PYTHON=/path/to/one."; exit 1; }
	$(PYTHON) -m venv .venv

.venv/.installed: requirements.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --requirement requirements.txt
	$(BIN)/python -m pip check
	@touch $@

.venv/.installed-dev: requirements.txt requirements-dev.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --requirement requirements-dev.txt
	$(BIN)/python -m pip check
	@touch $@ .venv/.installed
