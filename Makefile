# Everything one does with Coffret. Needs make (GNU, 3.81 or newer), Python 3.11 or newer, and uv if you have it.

DATA_DIR = $(or $(COFFRET_DATA_DIR),.coffret)
BIN = .venv/bin
RUNS = .venv/.runs
INSTALLED = .venv/.installed
ARGS ?=

# Where it is set, as in many containers, every start of a program compiles all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test check format bench schema revision messages lock clean

help: ## Show this list
	@sed -n 's/^\([a-z]*\):[^#]*## /\1	/p' Makefile | while IFS='	' read -r name text; do printf 'make %-10s %s\n' "$$name" "$$text"; done

run: $(RUNS) ## Start everything on http://127.0.0.1:$PORT (8000), with demo data
	@$(BIN)/coffret serve $(ARGS)

test: $(INSTALLED) ## Run all tests; ARGS="tests/store -k carts" runs some
	@$(BIN)/python -m pytest -n logical --dist loadfile --no-loadscope-reorder $(ARGS)

check: $(INSTALLED) ## Check format, style, types and layers
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy .
	@$(BIN)/lint-imports

format: $(INSTALLED) ## Format, and repair what can be repaired
	@$(BIN)/ruff check --quiet --fix .
	@$(BIN)/ruff format .

bench: $(INSTALLED) ## Measure, each figure beside its floor
	@$(BIN)/python -m tests.bench $(ARGS)

schema: $(INSTALLED) ## Write schema/schema.graphql from the code
	@$(BIN)/coffret schema --output schema/schema.graphql

revision: $(INSTALLED) ## Write a migration of what the tables have become; MESSAGE="why"
	@$(BIN)/coffret revise "$(MESSAGE)"

messages: $(INSTALLED) ## Collect the texts to translate, bring the catalogues up to date
	@pot=`mktemp` && trap 'rm -f "$$pot"' EXIT && for part in funnel admin store/mail store/document; do \
	  others=`for other in funnel admin mail document; do test $${part##*/} = $$other || echo $$other; done`; \
	  $(BIN)/pybabel -q extract --mapping-file pyproject.toml --keyword N_ --sort-output --no-location --ignore-dirs "`echo $$others` .* _*" --output-file "$$pot" . && \
	  $(BIN)/pybabel -q update --input-file "$$pot" --output-dir $$part/translations --no-fuzzy-matching --ignore-obsolete --ignore-pot-creation-date || exit 1; \
	done

# No address of a registry may get into the lock: it would tie everybody to ours.
lock: $(INSTALLED) ## Choose the newest versions that pyproject.toml allows; ARGS="--upgrade"
	@uv=`command -v uv || echo $(BIN)/uv`; \
	test -x "$$uv" || $(BIN)/python -m pip install --quiet uv; \
	compile() { "$$uv" pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet "$$@"; }; \
	compile --group dev --output-file requirements-dev.lock $(ARGS) && \
	compile --group build --no-annotate --constraint requirements-dev.lock --output-file requirements.lock

clean: ## Remove all data of this installation (COFFRET_DATA_DIR)
	@case "$(DATA_DIR)" in /|.|..|*/.|*/..|"$(HOME)"|"$(CURDIR)") echo 'make: "$(DATA_DIR)" is more than data; set COFFRET_DATA_DIR' >&2; exit 1;; esac; \
	pid=`head -n 1 "$(DATA_DIR)/postgres/postmaster.pid" 2>/dev/null || true`; \
	if [ -n "$$pid" ] && kill -0 "$$pid" 2>/dev/null; then echo 'make: Coffret is running on these data; stop it first' >&2; exit 1; fi; \
	rm -rf "$(DATA_DIR)"

# The environment: made once, brought up to date when a lock changes. To run takes less than to test and check.
$(RUNS): LOCK = requirements.lock
$(INSTALLED): LOCK = requirements-dev.lock
$(RUNS) $(INSTALLED): requirements.lock requirements-dev.lock pyproject.toml
	@set -e; \
	python='$(PYTHON)'; \
	for name in python3.13 python3.12 python3.11 python3 python; do \
	  if [ -z "$$python" ] && "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then python=$$name; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo 'make: Coffret needs Python 3.11 or newer and found none. Install one, or name it: make PYTHON=/path/to/python3' >&2; exit 1; \
	fi; \
	if test -d .venv; then echo "Bringing .venv up to date."; else echo "Installing into .venv; this takes a minute, once."; fi; \
	if command -v uv >/dev/null 2>&1; then \
	  test -x $(BIN)/python || { rm -rf .venv; uv venv --quiet --python "$$python" .venv; }; \
	  VIRTUAL_ENV="$(CURDIR)/.venv" uv pip install --compile-bytecode --require-hashes --requirement $(LOCK); \
	  VIRTUAL_ENV="$(CURDIR)/.venv" uv pip install --quiet --no-deps --no-build-isolation --editable .; \
	else \
	  test -x $(BIN)/python || rm -rf .venv; \
	  if ! test -x $(BIN)/pip && ! "$$python" -m venv .venv; then \
	    echo 'make: Python could not make an environment. On Debian and Ubuntu: apt-get install python3-venv' >&2; rm -rf .venv; exit 1; \
	  fi; \
	  $(BIN)/python -m pip install --disable-pip-version-check --require-hashes --requirement $(LOCK); \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .; \
	fi
	@touch $(RUNS) $@
