/* SPDX-License-Identifier: GPL-2.0 */
/* What includes it uses nothing of it. */
