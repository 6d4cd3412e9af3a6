#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Print -DAPOGEE_HAS_NAME for each NAME of probe.c that compiles.
#
#   probe.sh KEPT COMPILER [FLAG...]
#
# KEPT is a file with what was found. It is found again when the compiler's command or what it reads
# changes. If not even the headers compile, nothing is printed: the build says why.
set -eu

source=${0%/*}/probe.c kept=$1
shift
set -- "$@" -Wno-error -Werror=implicit-function-declaration -Werror=incompatible-pointer-types -DMODULE \
	-DKBUILD_MODNAME='"probe"' -DKBUILD_BASENAME='"probe"'
# All parts as one text, each header that is there with its content. Time and place are no part of it.
text=$(sed '/^#ifdef/,$ { s/^#ifdef APOGEE_PROBE_.*/#if 1/
	s/^#include \(<.*>\)$/#if __has_include(\1)\n\1 is there\n&\n#endif/ }' "$source" |
	"$@" -E -P -x c - 2>&1) || :
key=$(printf '%s\n' "$*" "$text" | cat - "$source" "$0" | cksum)
if [ "$(sed 1q "$kept" 2>/dev/null)" = "$key" ]; then
	sed 1d "$kept"
	exit
fi
"$@" -E "$source" >/dev/null 2>&1 || exit 0
found=$(sed -n 's/^#ifdef APOGEE_PROBE_//p' "$source" | while read -r name; do
	! "$@" -fsyntax-only "-DAPOGEE_PROBE_$name" "$source" </dev/null 2>/dev/null ||
		echo "-DAPOGEE_HAS_$name"
done)
echo "$found"
# Where nothing can be written it is found each time.
if printf '%s\n' "$key" "$found" >"$kept.$$"; then
	mv "$kept.$$" "$kept"
fi 2>/dev/null
