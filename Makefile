# One command each; every target sets up .venv in the tree by itself and changes nothing else, but
# that `test` installs Debian's Chromium where it runs as root and there is none.
#   make demo       16 peers bring sensors and clients together; READINGS=file.csv for real data
#   make test       the suite                     make test-long  the longer suites as well
#   make test-spark-floor  the study on PySpark 4.0, classic and Connect
#   make lint       ruff                          make types      mypy --strict
#   make bench      measurements, one JSON line each
#   make compare    Meteor beside zenoh, OpenDHT, kademlia, NATS and mosquitto: docs/speed.md
#   make docs       the site, in build/site
#   make faults     peers in processes killed, held and restarted: an account; RUNS="power-cut" SEED=1

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Named by what is installed: another set of dependencies makes another stamp.  What runs a peer is
# small and there in seconds; what the tests need has Spark in it, half a gigabyte.
EDITION := $(shell cat setup.cfg pyproject.toml | cksum | cut -d' ' -f1)
RUNS_PEERS := $(VENV)/.installed-$(EDITION)
STAMP  := $(VENV)/.complete-$(EDITION)
READINGS ?=
RUNS ?=
SEED ?= 1
# Three processes by default, for two cores: tests wait for processes, disks and a browser, and two
# leave a quarter of the cores idle.
WORKERS ?= 3

.DEFAULT_GOAL := help
.PHONY: help demo browser fuzzer test test-long lint types bench compare faults docs clean

help:
	@sed -n 's/^#   //p' Makefile

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Meteor needs Python 3.11 or later; try: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(RUNS_PEERS): | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	rm -f $(VENV)/.installed-*
	touch $@

# Of what the tests need, most is never imported: what is, is compiled as it is, and the rest not.
# What runs a peer is among it, and need not be installed first.  uv brings it in half of pip's time;
# where it is not to be had, or does not reach what pip is set to reach, pip brings it.
$(STAMP): | $(BIN)/python
	{ $(BIN)/python -m pip install --quiet --disable-pip-version-check uv && UV_SYSTEM_CERTS=1 \
	  $(BIN)/uv pip install --quiet --python $(BIN)/python --editable '.[test]'; } \
	  || $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[test]'
	rm -f $(VENV)/.complete-* $(VENV)/.installed-*
	touch $@ $(RUNS_PEERS)

demo: $(RUNS_PEERS)
	$(BIN)/meteor demo $(if $(READINGS),--readings '$(READINGS)')

# What drives the dashboard in tests: Debian's.  Where it cannot be installed those tests are skipped
# (tests/skips.txt), and this line says so.
browser:
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null && command -v curl >/dev/null \
	  || { test "$$(id -u)" = 0 && apt-get -qq update && DEBIAN_FRONTEND=noninteractive \
	       apt-get -qq install --yes --no-install-recommends chromium chromium-driver curl >/dev/null; } \
	  || echo "no chromium, chromedriver and curl here, and they cannot be installed: their tests skip"

# The suite starts some hundred processes of Python: each would compile all of meteor anew.
unexport PYTHONDONTWRITEBYTECODE

test: $(STAMP) browser
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

# The fuzzer, where there is a wheel of it; elsewhere its tests are skipped (tests/skips.txt).
fuzzer: $(STAMP)
	@$(BIN)/python -c 'import importlib.util as u, sys; sys.exit(u.find_spec("atheris") is None)' \
	  || $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[fuzz]' \
	  || echo "no atheris here, and it cannot be installed: its tests skip"

test-long: $(STAMP) browser fuzzer
	HYPOTHESIS_PROFILE=long $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m 'not benchmark'

# The oldest PySpark that is supported, classic and over Spark Connect; with it, Connect's client.
# Its classic `toArrow` leaves a socket to the garbage collector, which later versions do not.
test-spark-floor: $(STAMP)
	test -x $(VENV)-spark/bin/python || $(PYTHON) -m venv $(VENV)-spark
	$(VENV)-spark/bin/python -m pip install --quiet --disable-pip-version-check \
	  --editable '.[test]' 'pyspark[sql,connect]>=4.0,<4.1'
	$(VENV)-spark/bin/python -m pytest -W ignore:unclosed:ResourceWarning tests/sim/test_study_spark.py
	METEOR_SPARK_REMOTE='local[2]' $(VENV)-spark/bin/python -m pytest tests/sim/test_study_spark.py

lint: $(STAMP)
	$(BIN)/ruff check .

types: $(STAMP)
	$(BIN)/mypy

# OpenDHT stands beside Meteor where its wheel installs; rings of thousands of profiles take minutes.
bench: $(STAMP)
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[opponents]'
	$(BIN)/python -m pytest -m benchmark -s -q -o faulthandler_timeout=1800 tests/benchmarks

# What is not installed is said to be so; on Debian, `apt install nats-server mosquitto`.
compare: $(STAMP)
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[opponents]'
	$(BIN)/python -m tests.benchmarks.comparison --write

faults: $(STAMP)
	$(BIN)/python -m tests.processes $(RUNS) --seed $(SEED)

docs: $(STAMP)
	$(BIN)/python -m sphinx -W --keep-going -q docs build/site
	@echo "build/site/index.html"

clean:
	rm -rf $(VENV) $(VENV)-spark build dist *.egg-info .hypothesis .mypy_cache .ruff_cache
