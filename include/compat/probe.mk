# SPDX-License-Identifier: GPL-2.0
# Sets apogee-has: -DAPOGEE_HAS_NAME for each NAME of probe.c that this kernel's headers take. A Kbuild
# includes it; what was found is kept beside what it builds. `make clean` asks nothing.
apogee-compat := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
ifdef KBUILD_MODULES
apogee-has := $(shell sh $(apogee-compat)/probe.sh $(obj)/.probed $(CC) $(NOSTDINC_FLAGS) \
	$(LINUXINCLUDE) -include $(srctree)/include/linux/compiler_types.h \
	$(KBUILD_CPPFLAGS) $(KBUILD_CFLAGS) $(KBUILD_CFLAGS_MODULE))
endif
