# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Makefile: the short commands. CMake and its presets do the work.
#
#   make            builds the product; the command line is build/mettle
#   make demo       installs what is missing (as root), builds, runs the
#                   examples and leaves the picture under build/
#   make test       the same, then every test; FILTER='suite:test ...' for some,
#                   TEST_FLAGS=--again to run what fails once more, alone;
#                   with METTLE_TEST_LARGE=1, METTLE_CORPUS_FULL=1 what is too
#                   large for every day, too
#   make bench      the benchmarks: a table, and build/bench.json
#   make sanitize   the tests under ASan + UBSan, and under TSan; as
#                   METTLE_AOTI_FULL=1 make sanitize FILTER=aoti_stress
#                   every PyTorch model, from eight threads
#   make accuracy   mathematical functions over all floats, to
#                   docs/accuracy.md: an hour of a core
#   make fuzz       the fuzz targets, SECONDS_EACH=20 for each
#   make valgrind   the examples under valgrind
#   make install    to PREFIX=/usr/local, under DESTDIR; with STATIC=1 the
#                   static libraries as well, with AS_BUILT=1 what is built
#                   already, and nothing is built by whoever installs
#   make wheel      the Python package with the compiler inside, to dist/
#   make tarball    an archive that runs from whatever folder it is unpacked in,
#                   on systems without LLVM, to dist/
#   make site       the documentation as a site, to build/site/html; Sphinx
#                   comes from the Python package index
#   make clean      removes the build folders
#
# `make demo` and `make test` alone call apt, as root; everything else names
# what is missing.
.PHONY: all packages configure demo everything test bench sanitize asan tsan \
  accuracy fuzz valgrind install wheel tarball site clean asan_programs \
  tsan_programs fuzz_programs
.DEFAULT_GOAL := all

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
SECONDS_EACH ?= 20
CMAKE_FLAGS ?=
TEST_FLAGS ?=
STATIC ?=
AS_BUILT ?=
build = build

all: configure
	@cmake --build $(build) -j $(JOBS) --target product

demo test: apt = --apt

# Names or installs the packages without which nothing builds.
packages:
	@tools/install_packages.sh $(apt) build demo

configure: packages
	@test -f $(build)/build.ninja || cmake --preset check $(CMAKE_FLAGS)

demo: all
	@tools/demo.sh $(build)

# The tests and benchmarks as well; they need more packages.
everything: configure
	@tools/install_packages.sh $(apt) test
	@tools/install_packages.sh $(apt) cross pages || \
	  echo "Going on without; their tests are skipped." >&2
	@cmake --build $(build) -j $(JOBS)

test: everything
	@tests/harness/run.py --build $(build) --jobs $(JOBS) $(TEST_FLAGS) $(FILTER)

bench: configure
	@tools/install_packages.sh bench || \
	  echo "Going on without what is missing." >&2
	@cmake --build $(build) -j $(JOBS) --target mettle-bench
	@$(build)/mettle-bench --output $(build)/bench.json
	@python3 -B bench/corpora.py $(build)
	@python3 -B bench/metallib.py $(build)
	@python3 -B bench/tensors.py $(build)
	@python3 -B bench/checker.py $(build)
	@python3 -B bench/models.py $(build)

sanitize: asan tsan

# The compiler is a process of its own, whose threads ThreadSanitizer sees in
# the suites process_*: elsewhere it compiles in a third of the time without.
# So it does under ASan for the suites marked CLIENT.
asan tsan: all
tsan: export METTLE_COMPILER = $(CURDIR)/$(build)/mettlec

# What is built alone: .ci/run does that while a processor is free.
asan_programs tsan_programs: %_programs: configure
	@tools/install_packages.sh test
	@test -f build-$*/build.ninja || cmake --preset $* \
	  -DMETTLE_CLANG_FROM=$(CURDIR)/$(build) $(CMAKE_FLAGS)
	@cmake --build --preset $* -j $(JOBS)

asan tsan: %: %_programs
	@tests/harness/run.py --build build-$@ --jobs $(JOBS) $(TEST_FLAGS) $(FILTER)

accuracy: everything
	@$(build)/accuracy --every 1 --pairs 64 --table >$(build)/accuracy.md && \
	  mv $(build)/accuracy.md docs/accuracy.md

fuzz_programs: all
	@tools/install_packages.sh test check
	@cmake --build $(build) -j $(JOBS) --target container_seeds
	@test -f build-fuzz/build.ninja || cmake --preset fuzz $(CMAKE_FLAGS)
	@cmake --build --preset fuzz -j $(JOBS)

fuzz: fuzz_programs
	@tools/fuzz.py build-fuzz $(SECONDS_EACH)

valgrind: all
	@tools/install_packages.sh check
	@tools/valgrind_examples.sh $(build)

install: $(if $(AS_BUILT),,all)
ifneq ($(STATIC),)
ifeq ($(AS_BUILT),)
	@cmake --build $(build) -j $(JOBS) --target mettle_static mettle_aoti_static
endif
	@DESTDIR=$(DESTDIR) cmake --install $(build) --prefix $(PREFIX) --strip \
	  --component static
endif
	@DESTDIR=$(DESTDIR) cmake --install $(build) --prefix $(PREFIX) --strip

wheel: configure
	@cmake --build $(build) -j $(JOBS) --target wheel_files
	@python3 -B python/build_backend.py $(build) dist

tarball: all
	@cmake --build $(build) -j $(JOBS) --target wheel_files
	@mkdir -p dist
	@cpack --config $(build)/CPackConfig.cmake -B $(build)/tarball
	@mv $(build)/tarball/mettle-*.tar.* dist/

site:
	@tools/site.py $(build)

clean:
	rm -rf $(build) build-asan build-tsan build-fuzz dist
