# assay: the front door. `make help` lists what can be done here.
#
# Meson does the building; this file only names the usual wishes. Each kind of
# build has its own directory, so none disturbs another.

PREFIX  ?= /usr/local
PYTHON  ?= /usr/bin/python3
T       ?= 60
ARGS    ?=

# What a fresh Debian or Ubuntu needs: to build, to test, to develop.
BUILD_PKGS := gcc libc6-dev make meson ninja-build pkg-config python3 \
              libsqlite3-dev libzstd-dev zlib1g-dev libjansson-dev libncurses-dev libdw-dev \
              libssl-dev libnghttp2-dev clang bpftool libbpf-dev
TEST_PKGS  := $(BUILD_PKGS) procps python3-jsonschema strace util-linux mandoc zsh locales openssl \
              clang clang-format shellcheck node-typescript
BENCH_PKGS := $(BUILD_PKGS) musl python3-pip time util-linux heaptrack valgrind \
              wrk hey nghttp2-client
# Programs of science that the guides are tried on: 1.3 GB, so only when all of test-real runs.
GUIDE_PKGS := lammps lammps-examples mpi-default-bin openfoam openfoam-examples python3-dolfinx
# Programs whose profiles are read, and that read ours; likewise.
FORMAT_PKGS := go=golang-go valgrind linux-perf npm=npm python3-pip
REAL_PKGS  := $(TEST_PKGS) redis-server redis-tools git dpkg-dev chromium \
	      chromium-driver debootstrap iproute2 \
	      nodejs nginx-light curl python3-uvloop python3-trio python3-fastapi python3-uvicorn \
	      libjemalloc2 libtcmalloc-minimal4 libmimalloc2.0 musl \
	      nghttp2-server python3-h2 python3-wsproto
# A daemon for containers, and what hands out jobs, for the same occasion.
DOCKER_PKGS := docker.io
QUEUE_PKGS := python3-celery python3-redis munge slurm-client slurmctld slurmd \
	      slurm-wlm-basic-plugins
DEV_PKGS   := $(TEST_PKGS) libclang-rt-dev dpkg-dev libhttp-parser-dev

# Meson and ninja say a page; we show it when they fail, and warnings always.
define configure
@mkdir -p $(@D)
@$(1) meson setup $(2) $(@D) >$(@D)/setup.log 2>&1 || { cat $(@D)/setup.log; exit 1; }
endef
define compile
@ninja -C $(1) >$(1)/build.log 2>&1 || { cat $(1)/build.log; exit 1; }
@grep -A 4 'warning:' $(1)/build.log || true
endef

# --- build --------------------------------------------------------------------

build: build/build.ninja		## build the program: build/assay (the default)
	$(call compile,build)

build/build.ninja:
	$(call configure,,--prefix=$(PREFIX))

demo: deps build			## profile a real job and show what it used
	@examples/demo.sh build/assay

install: build/build.ninja		## install below $(DESTDIR)$(PREFIX)
	@meson configure build --prefix=$(PREFIX)
	$(call compile,build)
	@meson install -C build --quiet --no-rebuild

deb:					## make build/assay_VERSION_ARCH.deb
	@rm -rf build/deb
	@$(MAKE) --no-print-directory install PREFIX=/usr DESTDIR=$(CURDIR)/build/deb/root
	@tools/deb.sh build

clean:					## remove everything that was built
	@rm -rf build build-asan build-tsan build-torture build-fuzz

# --- packages -----------------------------------------------------------------

deps:					## install what the build needs, if it is missing
	@tools/deps.sh $(BUILD_PKGS)

test-deps:				## the same, and what the tests need
	@tools/deps.sh $(TEST_PKGS)

bench-deps:				## what bench needs, and the peers, into .peers/
	@tools/deps.sh $(BENCH_PKGS)
	@$(PYTHON) bench/peers.py

real-deps:				## the same, and the real components of test-real
	@tools/deps.sh $(REAL_PKGS) $(if $(findstring smoke,$(ARGS)),,$(GUIDE_PKGS) $(DOCKER_PKGS) \
		$(QUEUE_PKGS) $(FORMAT_PKGS))

dev-deps:				## the same, and what lint, asan, tsan and fuzz need
	@tools/deps.sh $(DEV_PKGS)

# --- checks -------------------------------------------------------------------
# ARGS picks tests by name: make test ARGS='t_num golden'

test: test-deps build			## run all tests (minutes)
	@$(PYTHON) tests/run.py --build build --again $(ARGS)

test-real: real-deps build		## tests against real components; throw-away machines only
	@$(PYTHON) tests/run.py --build build --kind real --again $(ARGS)

lint: build				## format, doors between rooms, lengths, banned calls, drift
	@$(PYTHON) tools/lint.py $(ARGS)

format:					## let clang-format rewrite what lint's format check names
	@git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format -i

docs: build				## rewrite every generated file (tools/drift.py lists them)
	@$(PYTHON) tools/drift.py

# Here warnings are errors too: clang's in build-asan, gcc's in build-torture.
ASAN := -Db_sanitize=address,undefined -Db_lundef=false -Dc_args=-fno-sanitize-recover=all

asan: build-asan/build.ninja		## the tests under AddressSanitizer, UBSan and leak check
	$(call compile,build-asan)
	@$(PYTHON) tests/run.py --build build-asan --patience 4 --again $(ARGS)

build-asan/build.ninja:
	$(call configure,CC=clang,$(ASAN) -Dwerror=true)

tsan: build-tsan/build.ninja		## the tests under ThreadSanitizer
	$(call compile,build-tsan)
	@$(PYTHON) tests/run.py --build build-tsan --patience 4 --again $(ARGS)

build-tsan/build.ninja:
	$(call configure,CC=clang,-Db_sanitize=thread -Db_lundef=false)

torture: build-torture/build.ninja	## fail each allocation in turn, over tests/torture.list
	$(call compile,build-torture)
	@$(PYTHON) tests/torture.py --build build-torture $(ARGS)

build-torture/build.ninja:
	$(call configure,CC=gcc,$(ASAN) -Dtorture=true -Dwerror=true)

fuzz: build-fuzz/build.ninja		## let libFuzzer feed each parser for T=60 seconds
	$(call compile,build-fuzz)
	@tools/fuzz.sh build-fuzz $(T)

build-fuzz/build.ninja:
	$(call configure,CC=clang,$(ASAN) -Dfuzz=true)

truth: build				## profile workloads whose true answer is known (long)
	@$(PYTHON) tests/run.py --build build --kind truth $(ARGS)

bench: bench-deps build			## our own cost, beside peers (32 min; ARGS=--quick: 5 min)
	@$(PYTHON) bench/run.py --build build $(ARGS)

help:					## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

.DEFAULT_GOAL := build
.PHONY: build demo install deb clean deps test-deps real-deps bench-deps dev-deps \
        test test-real lint format docs asan tsan torture fuzz truth bench help
