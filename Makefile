# The menu. `make demo` is the first five minutes, `make test` is what CI runs.
.PHONY: setup demo test check bench seeds policies messages ambient mutants soak fuzz

CARGO ?= cargo
TRACE := traces/7.2-s4x16x2-make.dat
# The recording does not tell its topology.
MACHINE := --machine 'package:4 l3:1 core:16 pu:2'
WASTENOT := target/release/wastenot

# System packages: installs what is missing when root, else lists it once.
setup:
	@.ci/setup

# Builds, reports on a real trace of 128 CPUs, draws it, simulates one; everything lands in out/.
demo: setup
	@$(CARGO) build --release --quiet --package wastenot
	@mkdir -p out
	@$(WASTENOT) report $(TRACE) $(MACHINE) -o out/report.html --force
	@for picture in cores waiting queues; do \
	  $(WASTENOT) draw $$picture $(TRACE) $(MACHINE) -o out/$$picture.pdf --socket-order --force || exit; done
	@$(WASTENOT) simulate scenarios/seeds/scheduling-groups-cg.toml
	@echo "Pictures: out/cores.pdf out/waiting.pdf out/queues.pdf"
	@echo "Your own machine next: $(WASTENOT) doctor"

# Everything that must hold; prints the ten slowest steps, counts what was skipped.
test: setup
	@.ci/test

# The quick part of it, while writing: format, lints, types.
check:
	@.ci/test --quick

# Ratios against named peers, on big recordings made on the spot: bench/README.md.
bench: setup
	@$(CARGO) build --release --quiet --package wastenot
	@bench/run
	@bench/simulate
	@bench/prove
	@bench/real-time

# Every number of the seeds, simulated, and pictures of the cases: docs/seeds.md.
seeds: setup
	@$(CARGO) build --release --quiet --package wastenot --package xtask
	@docs/pictures/draw
	@target/release/xtask seeds scenarios/seeds docs/seeds.md

# Policies in Rota on the workloads of the seeds, and on their own: docs/rota-simulated.md.
policies: setup
	@$(CARGO) build --release --quiet --package xtask
	@target/release/xtask policies scenarios/seeds scenarios/rota docs/rota-simulated.md

# Task sets under the overheads of the three designs, simulated: docs/message-passing.md. Minutes.
messages: setup
	@$(CARGO) build --release --quiet --package xtask
	@target/release/xtask messages docs/message-passing.md

# What runs beside a workload, derived from half of the recordings and held against the other half:
# crates/scenario/src/ambient.csv, docs/simulate.md.
ambient: setup
	@$(CARGO) build --release --quiet --package xtask
	@target/release/xtask ambient traces crates/scenario/src/ambient.csv
	@$(CARGO) build --release --quiet --package xtask
	@target/release/xtask beside traces scenarios/ambient docs/simulate.md

# Every right policy made wrong in every place: docs/mutants.md. Six minutes; needs z3.
mutants: setup
	@$(CARGO) build --release --quiet --package xtask
	@target/release/xtask mutants policies docs/mutants.md

# The random tests at length: 10^5 policies, 10^5 schedules a policy, 10^6 task sets, 10^5 in machines
# with overheads. Hours; needs z3 or cvc5.
soak: setup
	@WASTENOT_POLICIES=100000 WASTENOT_QUESTIONS=1000 WASTENOT_SITUATIONS=100000 \
	  WASTENOT_INTERLEAVED=2000 $(CARGO) test --package wastenot-prove --test all -- --nocapture \
	  random:: ground:: interpreted:: theorems::
	@WASTENOT_SCHEDULES=100000 WASTENOT_EMITTED=100 $(CARGO) test --package wastenot-rota --test all -- --nocapture natively
	@WASTENOT_SETS=1000000 WASTENOT_MACHINES=100000 $(CARGO) test --package wastenot-bounds --test all -- \
	  --nocapture sound:: machine::
	@WASTENOT_PROGRAMS=10000 $(CARGO) test --package wastenot-lab --test all -- --nocapture optimum::

# The readers under libFuzzer (nightly, cargo-fuzz): fuzz/README.md.
fuzz:
	@fuzz/run
