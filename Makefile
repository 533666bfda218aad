# make play    the board in the browser           make test    the tests, C++ and Python, without the slow ones
# make test-slow   the slow tests alone: whole runs, most of them killed again and again, and the page in browsers
# make check   all tests, ruff, mypy, clang-format, sanitizers   make bench   what this machine does per second
# make native  the native core alone              make format  rewrite sources to the house style
# make docs    the documentation site, in build/site     make messages  the page's texts for translators
# make wheel   a package for other machines       make release   sdist, wheel, licences, SBOM and checksums, checked
# make release-check   the same between two versions, in build/dist, or with the packages of a folder (DIST=dist)
# make clean   remove what was built; .venv stays
# make fuzz    libFuzzer at the native core for FUZZ_SECONDS=60 (needs clang)
# make prove   the native core against its slow twin on 10,000 random and 1,000 real games (ARGS='--games 500')
# make test-native   the C++ tests alone          make sanitize   the same under sanitizers
# make lint    ruff, mypy and clang-format, which change nothing     make stub   the types of the native module, for mypy
# make katrain   KaTrain in build/katrain, for the tests that analyze a game through it
# make costs   the sizes of the recipes' networks, after a change of a recipe or a network
#
# MAX_SIZE=25 with any of them: boards to 25x25, by a native module of its own; all sizes are then slower.
#
# A fresh machine needs Linux, git, make, Python 3.11 or later with venv, and a C++20 compiler; cmake and ninja come
# from PyPI into .venv. Python sources run from src/ as they are; only changes in native/ are built again.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# make play PORT=8090 ARGS='--size 9'
PORT ?=
ARGS ?=
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

NATIVE_FILES := CMakeLists.txt $(shell find native -name '*.h' -o -name '*.cpp' -o -name '*.def')
# Built for this very processor: on another one, everything native is built again.
CPU := $(shell { uname -m; grep -m1 -E '^(flags|Features)' /proc/cpuinfo; } 2>/dev/null | cksum | cut -d' ' -f1)
# The largest board, 19 or 25: a build folder and a module each, of which src/tengen/__init__.py takes one.
MAX_SIZE ?= $(or $(TENGEN_MAX_SIZE),19)
export TENGEN_MAX_SIZE := $(MAX_SIZE)
MODULE := build/module-$(CPU)-$(MAX_SIZE)
NATIVE := _native$(filter-out 19,$(MAX_SIZE))
CMAKE := $(BIN)/cmake -G Ninja '-DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja'

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

.PHONY: help play test check prove fuzz native bench docs format wheel release release-check clean messages test-native test-slow test-programs sanitize lint stub costs

play: $(MODULE)/done
	@exec $(BIN)/tengen play $(if $(PORT),--port $(PORT)) $(ARGS)

native: $(MODULE)/done

# --- the environment ---

.venv/made:
	@[ -n "$(PYTHON)" ] || { echo "error: Python 3.11 or later is needed; name it with make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "making .venv"
	@$(PYTHON) -m venv .venv
	@touch $@

# Editable: .venv points at src/, so that a changed Python file is seen without another install.
define install
	@echo "installing what $(1) needs"
	@$(PIP) install --config-settings=wheel.cmake=false --config-settings=wheel.py-api=py3 --config-settings=editable.mode=inplace --editable '.[$(2)]'
	@touch $@
endef

.venv/player: pyproject.toml .venv/made
	$(call install,a player,build)

.venv/developer: pyproject.toml .venv/player
	$(call install,a developer,build$(,)dev)

, := ,

# --- the native core ---

# $(call quietly,COMMAND) shows what a command said only when it fails; build/native.log keeps it.
quietly = $(1) > build/native.log 2>&1 || { cat build/native.log >&2; exit 1; }

$(MODULE)/done: $(NATIVE_FILES) .venv/player $(if $(wildcard src/tengen/$(NATIVE).*.so),,missing-module)
	@echo "building the native core"
	@mkdir -p build && rm -rf $(filter-out build/module-$(CPU)-%,$(wildcard build/module-*)) src/tengen/$(NATIVE).*.so
	@$(call quietly,$(CMAKE) -S . -B $(MODULE) '-DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python' \
		'-DCMAKE_LIBRARY_OUTPUT_DIRECTORY=$(CURDIR)/src/tengen' -DTENGEN_MAX_SIZES=$(MAX_SIZE))
	@$(call quietly,$(BIN)/cmake --build $(MODULE) --parallel $(JOBS) --target $(NATIVE))
	@touch $@

.PHONY: missing-module
missing-module:

# The same build with the C++ tests besides.
test-native: $(MODULE)/done
	@$(call quietly,$(CMAKE) -S . -B $(MODULE) -DTENGEN_TESTS=ON)
	@$(call quietly,$(BIN)/cmake --build $(MODULE) --parallel $(JOBS) --target tengen_tests)
	@echo "C++ tests"
	@$(MODULE)/tengen_tests

# $(call sanitized,NAME,SANITIZERS,MAX_SIZE) builds the C++ tests without Python and runs them under sanitizers. One of
# the two has the largest boards, so that their tests need no build of their own.
define sanitized
	@mkdir -p build
	@$(call quietly,$(CMAKE) -S . -B build/$(1) -DTENGEN_PYTHON=OFF -DTENGEN_TESTS=ON \
		-DTENGEN_FUZZ=ON -DTENGEN_SANITIZE=$(2) -DTENGEN_MAX_SIZES=$(3) -DCMAKE_BUILD_TYPE=RelWithDebInfo)
	@$(call quietly,$(BIN)/cmake --build build/$(1) --parallel $(JOBS))
	@echo "C++ tests under -fsanitize=$(2)"
	@build/$(1)/tengen_tests
endef

sanitize: .venv/player
	$(call sanitized,asan,address$(,)undefined,25)
	@cd build/asan && ./tengen_fuzz
	$(call sanitized,tsan,thread,19)

# libFuzzer for FUZZ_SECONDS, where there is a clang with its compiler-rt; what it found stays in build/fuzz/corpus.
FUZZ_SECONDS ?= 60
FUZZ_CXX ?= $(shell command -v clang++ || ls /usr/bin/clang++-* 2>/dev/null | tail -1)

fuzz: .venv/player
	@test -n "$(FUZZ_CXX)" || { echo "make fuzz needs clang++ and its compiler-rt (Debian: clang libclang-rt-14-dev)"; exit 1; }
	@mkdir -p build/fuzz/corpus
	@$(call quietly,$(CMAKE) -S . -B build/fuzz -DCMAKE_CXX_COMPILER=$(FUZZ_CXX) -DTENGEN_PYTHON=OFF -DTENGEN_FUZZ=ON \
		-DTENGEN_SANITIZE=address$(,)undefined -DCMAKE_BUILD_TYPE=RelWithDebInfo)
	@$(call quietly,$(BIN)/cmake --build build/fuzz --parallel $(JOBS) --target tengen_fuzz)
	@cd build/fuzz && ./tengen_fuzz -max_total_time=$(FUZZ_SECONDS) -max_len=600 -print_final_stats=1 corpus

# --- tests ---

# The browser for the browser tests, an opponent for the match tests, Leela Zero for its networks and a screen for KaTrain:
# installed where we may, else those tests are skipped. TENGEN_REQUIRE='browser gnugo leela-zero' refuses to skip them.
PROGRAMS := chromium:chromium chromedriver:chromium-driver gnugo:gnugo leelaz:leela-zero xvfb-run:xvfb

test-programs:
	@mkdir -p build
	@missing=; for pair in $(PROGRAMS); do \
		PATH="$$PATH:/usr/games" command -v "$${pair%%:*}" > /dev/null || missing="$$missing $${pair##*:}"; done; \
	[ -z "$$missing" ] && exit 0; \
	sudo=; [ "$$(id -u)" = 0 ] || sudo="sudo -n"; \
	if command -v apt-get > /dev/null && $$sudo true 2> /dev/null; then \
		echo "installing$$missing"; \
		failed=; { $$sudo apt-get -qq update; for package in $$missing; do \
			$$sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $$package || failed="$$failed $$package"; done; } \
			> build/programs.log 2>&1; \
		[ -z "$$failed" ] || echo "note: could not install$$failed (see build/programs.log); tests that need them are skipped"; \
	else \
		echo "note:$$missing not installed and no permission to; tests that need them are skipped"; \
	fi

# KaTrain in an environment of its own, for the tests that analyze a game through it (300 MB, so not a part of `test`).
# Its window needs xvfb-run too (Debian: xvfb).
.PHONY: katrain
katrain:
	@mkdir -p build && $(PYTHON) -m venv build/katrain
	@build/katrain/bin/python -m pip --disable-pip-version-check --quiet install katrain

# pytest in parallel. Files in the order of tests/conftest.py, the longest first: by their number of tests, those with few would run last, alone.
pytest = $(BIN)/python -m pytest -n $(JOBS) --maxprocesses 8 --dist loadfile --no-loadscope-reorder

test: $(MODULE)/done .venv/developer test-programs test-native
	@$(pytest)

# Tests of 3 s or more: whole runs, most of them killed again and again, the page in browsers, and KataGo's largest network.
test-slow: $(MODULE)/done .venv/developer test-programs
	@$(pytest) -m slow

# Sizes, rule sets and seeds are the same on every run; the real games are those of tests/data where no archive lies
# beside this checkout.
prove: $(MODULE)/done .venv/developer
	@$(BIN)/python tests/equivalence/prove.py $(ARGS)

# --- quality ---

lint: $(MODULE)/done .venv/developer
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@find native -name '*.h' -o -name '*.cpp' | xargs $(BIN)/clang-format --dry-run --Werror
	@echo "ruff, mypy and clang-format have nothing to say"

check: lint sanitize test test-slow

format: .venv/developer
	@$(BIN)/ruff check --fix-only --quiet . && $(BIN)/ruff format .
	@find native -name '*.h' -o -name '*.cpp' | xargs $(BIN)/clang-format -i

# What Python has from the native module: its types, for mypy and editors, and the fields of the search settings.
# tests/test_stub.py fails when they are out of date.
stub: $(MODULE)/done .venv/developer
	@$(BIN)/python -m nanobind.stubgen -q -m tengen._native -o src/tengen/_native.pyi
	@$(BIN)/python native/tools/param_fields.py

# The sizes of the networks that `tengen recipes` lists. tests/recipes/test_costs.py fails when they are out of date.
costs: $(MODULE)/done .venv/developer
	@$(BIN)/python -m tengen.recipes.costs

# The texts of the page: collected from the source, brought into the catalogue of each language, compiled.
LOCALE := src/tengen/web/locale

messages: .venv/developer
	@$(BIN)/pybabel -q extract --no-wrap --sort-output --add-location=never --omit-header -o $(LOCALE)/tengen.pot src/tengen/web
	@$(BIN)/pybabel -q update -D tengen -i $(LOCALE)/tengen.pot -d $(LOCALE) --no-wrap --ignore-obsolete --ignore-pot-creation-date
	@$(BIN)/pybabel -q compile -D tengen -d $(LOCALE)

bench: $(MODULE)/done .venv/developer
	@$(call quietly,$(BIN)/cmake --build $(MODULE) --parallel $(JOBS) --target tengen_bench)
	@for file in benchmarks/[!_]*.py; do TENGEN_BENCH=$(MODULE)/tengen_bench $(BIN)/python "$$file"; done

# The commands and the Python API are read from the code, so the native module must be there.
docs: $(MODULE)/done .venv/developer
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet
	@echo "documentation: build/site/index.html"

wheel: .venv/player
	@$(PIP) wheel --no-deps --wheel-dir dist . && ls dist/*.whl

# In dist/, for PyPI; the tools have an environment of their own.
build/release/made: pyproject.toml
	@$(PYTHON) -m venv build/release
	@build/release/bin/python -m pip --disable-pip-version-check --quiet install 'pip>=25.1'
	@build/release/bin/python -m pip --quiet install --group release
	@touch $@

release: build/release/made
	@build/release/bin/python tools/release.py

# All of it but the entry of the version in the changelog.
release-check: build/release/made
	@$(if $(DIST),,rm -rf build/dist)
	@build/release/bin/python tools/release.py --check $(or $(DIST),build/dist)

clean:
	rm -rf build dist src/tengen/_native*.so
	find . -path ./.venv -prune -o -name __pycache__ -type d -print0 | xargs -0 rm -rf
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
