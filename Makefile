# make demo   a first look: needs python3 and pip only      make export  notebooks -> modules, clean notebooks, README.md
# make test   everything, through pytest                     make run     run notebooks in place (NB=nbs/10_dst.ipynb for one)
# make docs   the site, in _docs                             make bench   the benchmarks
# PYTHON=python3.12 chooses the interpreter.

PYTHON ?= python3
VENV   ?= .venv
PY     := $(VENV)/bin/python
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
FACTS  := settings.ini setup.py pyproject.toml
BENCH  := $(wildcard tests/benchmarks/bench_*.py)

# The stamps tell what the environment holds; one of another Python's is made afresh.
MADE := $(VENV)/made-$(VERSION)
BASE := $(VENV)/base-$(VERSION)
DEV  := $(VENV)/dev-$(VERSION)

.PHONY: demo test docs export run bench clean

demo: $(BASE)
	$(VENV)/bin/dialeval demo

test: $(DEV)
	$(PY) -m pytest $(ARGS)

docs: $(DEV)
	$(PY) .ci/docs.py $(ARGS)

export: $(DEV)
	$(PY) .ci/notebooks.py export
	$(PY) .ci/readme.py

run: $(DEV)
	$(PY) .ci/notebooks.py run $(NB)
	$(PY) .ci/readme.py

bench: $(DEV)
	set -e; for script in $(BENCH); do $(PY) $$script; done

clean:
	rm -rf $(VENV) _docs build dist *.egg-info .pytest_cache .hypothesis

# Debian's python3 comes without ensurepip: there its own pip serves the new environment.
$(MADE):
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV) 2>/dev/null || { $(PYTHON) -m venv --without-pip --clear $(VENV) \
	  && $(PYTHON) -m pip --python $(PY) install -q pip; }
	touch $@

$(BASE): $(MADE) $(FACTS)
	$(PY) -m pip install -q -e .
	touch $@

$(DEV): $(MADE) $(FACTS)
	$(PY) -m pip install -q -e '.[dev]'
	touch $@ $(BASE)
