# SPDX-License-Identifier: GPL-2.0
#
# Apogee's targets. `make` without arguments lists them.
#
# Variables: KDIR, a kernel's build directory (default: the running kernel's
# headers; without them the lab's); OUT, where `make modules` builds.

PYTHON := PYTHONPATH=scripts /usr/bin/python3 -Xutf8
RUNNING := $(shell uname -r)
HOST_KDIR := /lib/modules/$(RUNNING)/build
# Headers of the lab's kernel, unpacked in its cache on first use.
lab_kdir = $$($(PYTHON) -m apogee_lab.commands.kernel_files kdir)

# The kernel release of the build directory $(1).
release = $$(sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' $(1)/include/generated/utsrelease.h 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help modules bpf ip-plugins install uninstall load unload dkms dkms-remove deb dist prove-package demo reproduce check check-deep matrix lint clean clean-cache

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

modules: ## build the modules into build/modules (KDIR=… for another kernel, OUT=… elsewhere)
	+@set -eu; kdir='$(KDIR)'; \
	[ -n "$$kdir" ] || { [ ! -e $(HOST_KDIR)/Makefile ] || kdir=$(HOST_KDIR); }; \
	[ -n "$$kdir" ] || { scripts/setup demo; kdir="$(lab_kdir)"; }; \
	out='$(OUT)'; scripts/build-modules "$$kdir" "$${out:-build/modules/$(call release,"$$kdir")}"

ip-plugins: ## build the plug-ins of ip for the modules' types of link into build/ip
	@scripts/ip-plugins build build/ip

bpf: ## build apogee-bpf, the algorithms as BPF programs with their loader, into build/bpf
	@scripts/setup bpf
	+@$(MAKE) -C bpf OUT=../build/bpf

# The targets below act on this machine's kernel, never on the lab's.
install uninstall load unload: KDIR ?= $(HOST_KDIR)

install: ## build for this machine, copy to /lib/modules, run depmod; plug-ins of ip, too (root)
	+@scripts/host-modules install "$(KDIR)"

uninstall: ## remove what install copied (root)
	@scripts/host-modules uninstall "$(KDIR)"

load: ## build for this machine and insert the modules (root)
	+@scripts/host-modules load "$(KDIR)"

unload: ## remove the modules from the running kernel (root)
	@scripts/host-modules unload "$(KDIR)"

dkms: ## register the modules with DKMS: built for all installed and future kernels (root)
	@scripts/dkms install

dkms-remove: ## remove them from DKMS, all kernels and /usr/src (root)
	@scripts/dkms remove

deb: ## build the Debian packages, one per product, into build/deb
	@scripts/setup deb
	@scripts/make-deb

dist: ## a tarball of the commit, build/apogee-VERSION.tar.gz, from which every package builds
	@scripts/dist

prove-package: ## install, boot and remove the package in a clean Debian: SUITE=bookworm or trixie (root, 3 GB)
	@scripts/setup prove-package
	@scripts/prove-package $(or $(SUITE),bookworm trixie)

demo: ## compare star with five others on a lossy satellite link: tables and plots
	+@scripts/demo

# SEEDS, DURATION, ENGINE, JOBS, EXECUTOR and DRY: see docs/reproduce.md. If Python is available,
# arguments are checked before anything is installed.
figures = $(PYTHON) -m apogee_lab.commands.reproduce $(FIG) $(if $(SEEDS),--seeds '$(SEEDS)') \
	$(if $(DURATION),--duration '$(DURATION)') $(if $(JOBS),--jobs '$(JOBS)') \
	$(if $(EXECUTOR),--executor '$(EXECUTOR)') $(if $(ENGINE),--engine '$(ENGINE)') \
	$(if $(DRY),--dry-run)

reproduce: ## a paper's figures and table: FIG=star, gentle, compound, sscop, shake, star-5 (DRY=1: only the cost)
	@[ ! -x /usr/bin/python3 ] || $(figures) --check
	@scripts/setup reproduce $(filter uml,$(ENGINE))
	+@$(figures)

check: ## run the tests that take minutes: pure code, modules in guests, scenarios
	@set -e; start=$$(date +%s); scripts/setup check; \
	export APOGEE_SETUP_S=$$(($$(date +%s) - start)); \
	$(PYTHON) -m pytest -m 'not deep' --numprocesses auto --maxprocesses 4 --dist loadfile

# PART='storms fuzz': only these; PART=list prints all.
check-deep: ## the tests that take hours: exchanges, storms, debug kernels, fuzzers, proofs (PART=NAME)
	@[ -x /usr/bin/python3 ] || scripts/setup check
	@$(PYTHON) -m tests.lanes.deep $(PART)

matrix: ## build and run on all supported kernels, compile for other architectures: a table
	@scripts/setup check
	+@$(PYTHON) -m tests.matrix

lint: ## checkpatch, gcc's analyzer, clang, sparse, coccinelle, ruff, shellcheck, licence lines, words of pages
	@scripts/setup lint
	+@scripts/lint

clean: ## remove built files; keep results in build
	rm -rf build/modules build/bpf build/ip build/lint build/unit build/deb

clean-cache: ## remove from the cache what this source does not use, of ~/.cache/apogee (ALL=1: everything)
	@$(PYTHON) -m apogee_lab.commands.clean_cache $(if $(ALL),--all)
