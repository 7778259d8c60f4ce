# Everything a newcomer needs: `make demo` and `make test`. Both create their own environment.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test lint types layers unit bench docs format clean

demo: $(STAMP)
	@"$(BIN)/amplihack" recipe check docs/examples/release-notes.yaml
	@"$(BIN)/amplihack" recipe explain docs/examples/release-notes.yaml

test: lint types layers unit

lint: $(STAMP)
	"$(BIN)/ruff" check .
	"$(BIN)/ruff" format --check .

types: $(STAMP)
	"$(BIN)/mypy"

layers: $(STAMP)
	"$(BIN)/lint-imports"

unit: $(STAMP)
	"$(BIN)/pytest" -n auto -q

bench: $(STAMP)
	"$(BIN)/python" benchmarks/run.py

docs: $(STAMP)
	"$(BIN)/python" docs/generate.py

format: $(STAMP)
	"$(BIN)/ruff" check --fix .
	"$(BIN)/ruff" format .

# pip runs as a module and the environment is addressed by relative path, so a checkout whose path
# holds a space works too (console-script shebangs are the part that a space can break).
$(STAMP): pyproject.toml src/amplihack/version.py
	$(PYTHON) -m venv "$(VENV)"
	"$(BIN)/python" -m pip install --quiet --disable-pip-version-check --prefer-binary "pip>=25.1"
	"$(BIN)/python" -m pip install --quiet --disable-pip-version-check --prefer-binary --group dev --editable .
	@touch "$(STAMP)"

clean:
	rm -rf "$(VENV)" .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
