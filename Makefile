# Marginscope: set-up, checks and runs. `make help` lists the targets.
#
#   PYTHON=python3.12     the interpreter that .venv is made from (3.11 or later)
#   TORCH_INDEX=ADDRESS   package index to take torch from, and only torch (CPU or CUDA builds)
#   URL=ADDRESS           address of the project's repository, for the metadata of a release
#   ARGS="-k name"        more arguments for pytest or for the benchmarks

SHELL := /bin/sh
.DEFAULT_GOAL := setup
.DELETE_ON_ERROR:

PYTHON ?= python3
TORCH_INDEX ?=
ARGS ?=
URL ?=
STUDY ?= telgarsky22-figure-1
OUT ?= out

VENV := .venv
PY := $(VENV)/bin/python
SETUP := $(VENV)/.setup-stamp
WITH_TORCH := $(VENV)/.torch-stamp
TOOLS := $(VENV)/.tools-stamp
SITE := $(VENV)/.site-stamp
KERNELS := $(VENV)/.kernels-stamp
KERNEL_SOURCES := $(wildcard core/compiled/*.py)
TORCH := $(shell sed -n 's/^torch==//p' constraints.txt)
PIP := $(PY) -m pip --disable-pip-version-check install --quiet -c constraints.txt

# Where bytecode is switched off, each of the hundreds of processes that tests start would compile
# what it imports, and pytest all tests twice.
export PYTHONDONTWRITEBYTECODE :=
# Two pytest workers with many BLAS threads each would fight over the processors.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1
# Tests that take long by nature run in test-long alone, which empties this variable.
TIER := -m "not slow"

.PHONY: setup run torch test test-long lint quick bench fuzz faults soak hunt recording drawing pictures results docs
.PHONY: bundle test-bundle release format clean help

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

setup: $(TOOLS) $(KERNELS) ## create .venv with the pinned versions and compile the kernels
	@.ci/qt-libraries --optional

# No PyTorch, tools or kernels: the window plays a recording until it has compiled what it needs.
run: $(SETUP) ## open the window; without a screen, run one study (STUDY=name) and draw its figure
	@.ci/qt-libraries --optional
	@if [ -f app/__main__.py ] && [ -n "$$DISPLAY$$WAYLAND_DISPLAY$$QT_QPA_PLATFORM" ]; then \
	    exec $(PY) -m app "$(STUDY)"; \
	fi; \
	echo "There is no window to open here: running the study $(STUDY) without one."; \
	$(PY) -m core run "$(STUDY)" --out "$(OUT)" --force && \
	$(PY) -m core figure "$(OUT)" --out "$(OUT)/figure.pdf" && \
	$(PY) -m core figure "$(OUT)" --out "$(OUT)/figure.png" && \
	echo "Runs and figures are in $(OUT)/: figure.pdf, figure.png and one .msrun file per run."

torch: $(WITH_TORCH) ## install PyTorch, for networks of your own, GPUs and torch.save checkpoints

test: setup lint ## lint, then the tests not marked slow and the doctests; on every push
	@.ci/qt-libraries --tests
	QT_QPA_PLATFORM=offscreen $(ONE_THREAD) $(PY) -m pytest $(TIER) $(ARGS)

lint: $(TOOLS) ## style, formatting, types, import contracts and workflow files
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -c "from importlinter.cli import lint_imports_command as main; main()" --no-logo
	$(VENV)/bin/zizmor --offline --quiet --no-progress .github/workflows

quick: $(TOOLS) ## lint, types and nearest tests of what changed, under a minute; ARGS="HEAD~3"
	QT_QPA_PLATFORM=offscreen $(ONE_THREAD) $(PY) -m tests.tools.nearest_tests $(ARGS)

bench: setup ## measure speed; not part of the tests
	$(PY) -m tests.tools.benchmarks $(ARGS)

recording: setup ## record anew the Figure 1 that a first start plays; after changes of the flow
	$(PY) -m core.training.shipped_recording

drawing: $(TOOLS) ## make docs/images/architecture.svg anew from the code
	$(PY) -m tests.tools.drawing

pictures: $(TOOLS) $(KERNELS) ## make docs/images/window-*.png anew from the program; after changes of the window
	$(PY) -m tests.tools.pictures $(ARGS)

results: $(TOOLS) $(KERNELS) ## resources/results again from runs of every study at quick size; after changes of studies
	$(ONE_THREAD) $(PY) -m tests.tools.results $(ARGS)

docs: $(SITE) $(KERNELS) ## the web site of the documents, which Help opens; runs every study once
	$(ONE_THREAD) $(PY) -m docs.site $(ARGS)

fuzz: setup ## open 10,000 damaged files of every format, and count what came of them
	QT_QPA_PLATFORM=offscreen $(ONE_THREAD) $(PY) -m tests.tools.fuzz $(ARGS)

faults: setup ## kills, full disks, files taken away, 50 kills of each: what was lost, counted
	QT_QPA_PLATFORM=offscreen $(ONE_THREAD) $(PY) -m tests.tools.faults $(ARGS)

soak: setup ## two hours of a random walk through the window: what it holds then
	@.ci/qt-libraries --tests
	$(ONE_THREAD) .ci/soak $(PY) 120 $(ARGS)

test-long: TIER :=
test-long: test faults ## lint, all tests, also the slow ones, all faults, and ten minutes of the walk
	$(ONE_THREAD) .ci/soak $(PY) 10 $(ARGS)

hunt: setup ## train and judge 500 random studies; ARGS="--count 200 --seed 2 --jobs 2"
	QT_QPA_PLATFORM=offscreen $(ONE_THREAD) $(PY) -m tests.tools.hunt $(ARGS)

bundle: ## both programs as one folder that needs nothing: dist/marginscope
	PYTHON="$(PYTHON)" TORCH_INDEX="$(TORCH_INDEX)" .ci/bundle

test-bundle: setup bundle ## try the bundle: in a bare Debian, from elsewhere, as a new version, on a screen
	$(PY) -m tests.tools.bundle $(ARGS)

release: setup ## wheel, source archive, bundle and site in dist/, from a clean clone, each checked
	@$(PIP) --no-build-isolation -e '.[release]'
	MARGINSCOPE_URL="$(URL)" $(PY) -m tests.tools.release $(ARGS)

format: $(TOOLS) ## rewrite the code in the project's style
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

clean: ## remove caches and build products; keep .venv, runs/ and out/
	rm -rf build dist resources/site *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -rf .import_linter_cache
	find app core resources tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The interpreter, and on Debian the package that lets it make a venv.
$(PY):
	@command -v "$(PYTHON)" >/dev/null 2>&1 || { \
	    echo "'$(PYTHON)' was not found. Install Python 3.11 or later, or name one: make PYTHON=...";\
	    exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "Marginscope needs Python 3.11 or later; '$(PYTHON)' is $$("$(PYTHON)" --version 2>&1)."; \
	    echo "Name a newer one: make PYTHON=python3.11"; \
	    exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { \
	    package=$$("$(PYTHON)" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'); \
	    if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	        echo "Installing $$package, without which Python cannot make a venv."; \
	        apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y $$package; \
	    else \
	        echo "This Python cannot make a venv. On Debian and Ubuntu type:"; \
	        echo "    sudo apt-get install $$package"; \
	        exit 1; \
	    fi; }
	"$(PYTHON)" -m venv $(VENV)

$(SETUP): pyproject.toml constraints.txt | $(PY)
	@$(PIP) setuptools
	@echo "Installing Marginscope with the versions in constraints.txt."
	@$(PIP) --no-build-isolation -e .
	@touch $@

# torch comes by itself, so that only it is looked for at TORCH_INDEX, and so that the CPU build
# (version "+cpu") is taken wherever the index has one.
$(WITH_TORCH): $(SETUP)
	@if [ -n "$(TORCH_INDEX)" ]; then \
	    echo "Installing torch $(TORCH) from TORCH_INDEX."; \
	    $(PIP) --no-deps --index-url "$(TORCH_INDEX)" torch==$(TORCH); \
	elif $(PY) -c 'import torch; assert torch.__version__.startswith("$(TORCH)")' 2>/dev/null; then \
	    echo "torch $(TORCH) is already there."; \
	elif echo "Looking for the CPU build of torch $(TORCH): .2 GB to fetch, .8 GB on the disk." && \
	    $(PIP) --no-deps torch==$(TORCH)+cpu 2>/dev/null; then \
	    echo "Installed the CPU build of torch $(TORCH)."; \
	else \
	    echo "The package index has no build of torch $(TORCH) marked as CPU: taking its default."; \
	    echo "On Linux that build may fetch 3 GB of CUDA libraries, 7 GB on the disk. To avoid it,"; \
	    echo "stop here and set TORCH_INDEX to the index of CPU builds (PyTorch's installation page)."; \
	    $(PIP) torch==$(TORCH); \
	fi
	@$(PIP) --no-build-isolation -e '.[torch]'
	@touch $@

$(TOOLS): $(WITH_TORCH)
	@echo "Installing the tools that check it."
	@$(PIP) --no-build-isolation -e '.[dev]'
	@touch $@

$(SITE): $(SETUP)
	@echo "Installing what makes the web site."
	@$(PIP) --no-build-isolation -e '.[docs]'
	@touch $@

# Machine code is kept per user, by content (core/compiled/store.py); a cold compile takes half a minute.
$(KERNELS): $(SETUP) constraints.txt $(KERNEL_SOURCES)
	@if [ -f core/__main__.py ]; then \
	    echo "Compiling the kernels."; \
	    $(PY) -m core warm && touch $@; \
	else \
	    echo "core/__main__.py is not there yet: no kernels compiled."; \
	fi
