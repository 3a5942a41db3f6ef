# The menu. `make demo` is the first five minutes, `make test` is what CI runs.
.PHONY: setup demo dist test check bench fuzz

CARGO ?= cargo
TRACE := traces/7.2-s4x16x2-make.dat
# The recording does not tell its topology.
MACHINE := --machine 'package:4 l3:1 core:16 pu:2'
WASTENOT := target/release/wastenot

# System packages: installs what is missing when root, else lists it once.
setup:
	@.ci/setup

# Builds the program, then reports on a real trace of 128 CPUs, draws it, and simulates a machine. Everything is in out/.
demo:
	@.ci/setup demo
	@echo "Building $(WASTENOT): minutes the first time, seconds after that"
	@$(CARGO) build --release --package wastenot
	@mkdir -p out
	@$(WASTENOT) report $(TRACE) $(MACHINE) -o out/report.html --force
	@for picture in cores waiting queues; do \
	  $(WASTENOT) draw $$picture $(TRACE) $(MACHINE) -o out/$$picture.pdf --socket-order --force || exit; done
	@$(WASTENOT) run scenarios/seeds/scheduling-groups-cg.toml
	@echo
	@$(WASTENOT) check $(TRACE) $(MACHINE) | awk 'BEGIN { RS = "" } NR == 2'
	@echo "This is the verdict on $(TRACE), a synthetic parallel build on 128 CPUs."
	@echo "  The report, in a browser:  out/report.html"
	@echo "  Pictures:                  out/cores.pdf out/waiting.pdf out/queues.pdf"
	@echo "Next, put wastenot into PATH, and see what it can record on this machine:"
	@echo "  export PATH=$$PWD/target/release:\$$PATH"
	@echo "  wastenot doctor"

# What to install: an archive, a .deb and a Python wheel of one static program, in dist/.
dist:
	@.ci/setup dist
	@packaging/build

# Everything that must hold. Prints the slowest steps and tests, and counts what was skipped.
test: setup
	@.ci/test

# While writing: format and lints; with CRATE=prove also the tests of that crate.
check:
	@.ci/test $(if $(CRATE),--crate $(CRATE),--quick)

# Ratios against named peers, on big recordings made on the spot: bench/README.md.
bench: setup
	@$(CARGO) build --release --quiet --package wastenot
	@bench/run
	@bench/simulate
	@bench/prove
	@bench/real-time

# Work that takes minutes or hours, and commits its result: `.ci/long` lists it. `make test` says which results
# are older than their sources.
long-%: setup
	@.ci/long $*

# The readers under libFuzzer (nightly, cargo-fuzz): fuzz/README.md.
fuzz:
	@fuzz/run
