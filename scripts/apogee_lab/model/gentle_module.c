// SPDX-License-Identifier: GPL-2.0
/* The module's source. */

/* The kernel is not built with these warnings. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wsign-compare"

#include "../../../tcp_hstcp_gentle.c"
