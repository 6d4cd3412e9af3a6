# SPDX-License-Identifier: GPL-2.0
#
# Apogee's verbs. `make` alone lists them.
#
# Variables: KDIR, a kernel's build directory (default: the running kernel's
# headers; without them the lab's).

PYTHON := PYTHONPATH=scripts /usr/bin/python3
RUNNING := $(shell uname -r)
HOST_KDIR := /lib/modules/$(RUNNING)/build
# What the lab's guest runs; unpacked under build/cache on first use.
lab_kdir = $$($(PYTHON) -m apogee_lab.commands.kernel_files kdir)

# The kernel release a build directory $(1) belongs to.
release = $$(sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' $(1)/include/generated/utsrelease.h 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help modules install uninstall load unload dkms dkms-remove deb prove-package demo reproduce check matrix lint clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

modules: ## build the modules into build/modules (KDIR=… for another kernel)
	+@set -eu; kdir='$(KDIR)'; \
	[ -n "$$kdir" ] || { [ ! -e $(HOST_KDIR)/Makefile ] || kdir=$(HOST_KDIR); }; \
	[ -n "$$kdir" ] || { scripts/setup demo; kdir="$(lab_kdir)"; }; \
	scripts/build-modules "$$kdir" "build/modules/$(call release,"$$kdir")"

# The verbs below act on this machine's kernel, never on the lab's.
install uninstall load unload: KDIR ?= $(HOST_KDIR)

install: ## build for this machine, copy to /lib/modules, run depmod (root)
	+@scripts/host-modules install "$(KDIR)"

uninstall: ## remove what install copied (root)
	@scripts/host-modules uninstall "$(KDIR)"

load: ## build for this machine and insert the modules (root)
	+@scripts/host-modules load "$(KDIR)"

unload: ## remove the modules from the running kernel (root)
	@scripts/host-modules unload "$(KDIR)"

dkms: ## hand the modules to DKMS: built for every installed kernel and those to come (root)
	@scripts/dkms install

dkms-remove: ## take them out of DKMS, every kernel and /usr/src (root)
	@scripts/dkms remove

deb: ## build the Debian package apogee-dkms into build/deb
	@scripts/setup deb
	@scripts/make-deb

prove-package: ## install, boot, remove in a clean Debian: SUITE=bookworm or trixie (root, some minutes, 3 GB)
	@scripts/setup prove-package
	@scripts/prove-package $(or $(SUITE),bookworm trixie)

demo: ## measure star beside five others on the lossy satellite link: table and plots
	+@scripts/demo

# SEEDS, DURATION, ENGINE, JOBS, EXECUTOR and DRY: see docs/reproduce.md. A bad name is told before
# anything is installed, where there is Python already.
figures = $(PYTHON) -m apogee_lab.commands.reproduce $(FIG) $(if $(SEEDS),--seeds '$(SEEDS)') \
	$(if $(DURATION),--duration '$(DURATION)') $(if $(JOBS),--jobs '$(JOBS)') \
	$(if $(EXECUTOR),--executor '$(EXECUTOR)') $(if $(ENGINE),--engine '$(ENGINE)') \
	$(if $(DRY),--dry-run)

reproduce: ## a paper's figures and table: FIG=star, gentle, compound, star-5 (DRY=1: what it takes)
	@[ ! -x /usr/bin/python3 ] || $(figures) --check
	@scripts/setup reproduce $(filter uml,$(ENGINE))
	+@$(figures)

check: ## unit tests, tests in the guest, scenario tests
	@scripts/setup check
	@$(PYTHON) -m pytest

matrix: ## build and run on every kernel supported, compile for other machines: a table
	@scripts/setup check
	+@$(PYTHON) -m tests.matrix

lint: ## checkpatch, sparse, W=1, ruff, shellcheck, licence lines
	@scripts/setup lint
	+@scripts/lint

clean: ## remove what was built; the lab's kernels and results in build stay
	rm -rf build/modules build/lint build/unit build/deb
