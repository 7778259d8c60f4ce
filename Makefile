# Everything a newcomer needs: `make demo` and `make test`. Both create their own environment.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTEST := "$(BIN)/python" -m tests.second_look

# The agent tools that `make test-agents` runs, in versions that are known to work.
AGENT_TOOLS := @anthropic-ai/claude-code@2.1.197 @openai/codex@0.166.0 @github/copilot@1.0.102

.PHONY: demo test test-agents test-browser test-local test-shells test-terminal test-installers fuzz crash lint types layers unit coverage pythons bench docs bundle format clean

# The agent step is answered by a small model in this process, or by a script where its weights cannot be had.
demo: $(STAMP)
	@"$(BIN)/amplihack" recipe check docs/examples/tour.yaml
	@"$(BIN)/amplihack" recipe explain docs/examples/tour.yaml
	@if $(LOCAL_MODEL); then \
		AMPLIHACK_HOME="$(CURDIR)/.models" AMPLIHACK_MODEL=local/smollm2-135m \
			"$(BIN)/amplihack" recipe run docs/examples/tour.yaml --agent session; \
	else \
		echo "the local model cannot be had: a script answers the agent step"; \
		"$(BIN)/amplihack" recipe run docs/examples/tour.yaml --agent scripted:docs/examples/tour-agent.yaml; \
	fi

test: lint types layers unit pythons

# Talks to a server on 127.0.0.1 only, with an environment made from nothing and a dummy key.
test-agents: $(STAMP)
	@if command -v npm >/dev/null; then $(MAKE) .agents/.installed && $(PYTEST) -n 2 -q -m agents; \
	else echo "npm is not installed: the tests of real agent tools are left out"; fi

.agents/.installed: Makefile
	npm install --silent --no-audit --no-fund --prefix .agents $(AGENT_TOOLS)
	@touch $@

# A model in this process. Its weights are fetched once, into .models/, as a user fetches them.
LOCAL_MODEL = $(PIP) install --prefer-binary --find-links "$(WHEELS)" "xllamacpp>=2026.10" \
	&& AMPLIHACK_HOME="$(CURDIR)/.models" "$(BIN)/amplihack" model pull smollm2-135m >/dev/null

test-local: $(STAMP)
	@$(LOCAL_MODEL) \
		|| { echo "the local model cannot be had: its tests are left out"; exit 0; }; \
	$(PYTEST) -q -m local

# The page of a run in Chromium, which comes from the system's packages; Playwright drives it.
test-browser: $(STAMP)
	@$(PIP) install --prefer-binary --find-links "$(WHEELS)" --group browser \
		|| { echo "Playwright cannot be had: the tests in a browser are left out"; exit 0; }; \
	command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get -qq update \
		&& apt-get -qq install --yes --no-install-recommends chromium >/dev/null; } \
		|| { echo "there is no Chromium and it cannot be installed: the tests in a browser are left out"; exit 0; }; \
	$(PYTEST) -q -m browser

# Completions in zsh and fish too, which come from the system's packages; `make test` uses the shells that are here.
test-shells: $(STAMP)
	@for shell in zsh fish; do command -v $$shell >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
		&& apt-get -qq update && apt-get -qq install --yes --no-install-recommends $$shell >/dev/null; } \
		|| echo "there is no $$shell and it cannot be installed: its completions are not tested"; done
	"$(BIN)/pytest" -n 2 -q tests/e2e/test_completions.py

# Chats in tmux too, which comes from the system's packages; `make test` uses a terminal of Python's own as well.
test-terminal: $(STAMP)
	@command -v tmux >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get -qq update \
		&& apt-get -qq install --yes --no-install-recommends tmux >/dev/null; } \
		|| { echo "there is no tmux and it cannot be installed: chats are tested in a terminal of Python's own only"; exit 0; }; \
	$(PYTEST) -q tests/e2e/test_chat.py -k tmux

# The wheel through uv and pipx too, which come from the package index; `make test` uses pip.
test-installers: $(STAMP)
	@$(PYTHON) -m venv .installers && .installers/bin/python -m pip --quiet --disable-pip-version-check install uv pipx \
		|| { echo "uv and pipx cannot be had: installs by them are not tested"; exit 0; }; \
	PATH="$$PATH:$(CURDIR)/.installers/bin" "$(BIN)/pytest" -n 2 -q tests/e2e/test_wheel.py

# Values in places of shell scripts, against real bash, and new examples for every property.
fuzz: $(STAMP)
	FUZZ_PAIRS=$${FUZZ_PAIRS:-1000000} SEMANTICS_EXAMPLES=$${SEMANTICS_EXAMPLES:-5000} HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-random} \
	$(PYTEST) -n auto -q tests/property

# Every command of runs killed at every point, and runs at several; random recipes that are killed and edited;
# installs with a fault at every file operation. `make test` has a share of it.
crash: $(STAMP)
	"$(BIN)/python" -m tests.crash --kills $${KILLS:-10000}
	KILLED_RECIPES=$${KILLED_RECIPES:-200} HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-random} $(PYTEST) -n auto -q tests/property/test_killed_runs.py
	LOAD_RUNS=$${LOAD_RUNS:-50} LOAD_STEPS=$${LOAD_STEPS:-100} $(PYTEST) -n 0 -q tests/e2e/test_runs_at_once.py
	"$(BIN)/python" -m tests.crash_install --every $${EVERY:-1} --points $${FAULTS:-5000} --damage $${DAMAGES:-1000}

lint: $(STAMP)
	"$(BIN)/ruff" check .
	"$(BIN)/ruff" format --check .

types: $(STAMP)
	"$(BIN)/mypy"

layers: $(STAMP)
	"$(BIN)/lint-imports"

unit: $(STAMP)
	$(PYTEST) -n auto -q

# Which branches the tests reach. Counting them makes the suite take twice as long, so `make test` does not; what a
# test starts as a command is not counted.
coverage: $(STAMP)
	$(PYTEST) -n auto -q --cov --cov-report=
	@"$(BIN)/coverage" report --format=total | sed 's/^/branch coverage: /; s/$$/ %/'

# The quick suite on every other supported Python that is here.
pythons: $(STAMP)
	@"$(BIN)/python" tests/other_pythons.py

bench: $(STAMP)
	@$(PIP) install --prefer-binary --group bench || echo "no network: not compared with just, task and DBOS"
	"$(BIN)/python" benchmarks/run.py

docs: $(STAMP)
	"$(BIN)/python" docs/generate.py

# The digests of the framework bundle's files; a test fails while they are not those of the files.
bundle: $(STAMP)
	"$(BIN)/python" tools/write_bundle.py

format: $(STAMP)
	"$(BIN)/ruff" check --fix .
	"$(BIN)/ruff" format .

# Packages are fetched into a folder of wheels and installed from there, so that an environment can be made
# again without a network. pip runs as a module and paths are quoted: a checkout may have spaces in its path.
WHEELS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/amplihack/wheels
PIP := "$(BIN)/python" -m pip --quiet --disable-pip-version-check
FETCH := $(PIP) download --prefer-binary --retries 1 --dest "$(WHEELS)"
INSTALL := $(PIP) install --no-index --find-links "$(WHEELS)"

$(STAMP): pyproject.toml src/amplihack/version.py
	$(PYTHON) -m venv "$(VENV)"
	@mkdir -p "$(WHEELS)"
	@$(FETCH) "pip>=25.1" 2>/dev/null || echo "no network: using what is in $(WHEELS)"
	@$(INSTALL) "pip>=25.1"
	@$(FETCH) hatchling editables --group dev . 2>/dev/null || echo "no network: using what is in $(WHEELS)"
	$(INSTALL) --group dev --editable .
	@touch "$(STAMP)"

clean:
	rm -rf "$(VENV)" .venv-3.* .coverage .agents .installers .models .mypy_cache .ruff_cache .pytest_cache .hypothesis \
		.import_linter_cache
