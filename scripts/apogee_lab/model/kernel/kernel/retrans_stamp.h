/* SPDX-License-Identifier: GPL-2.0 */
/* The model ends no connection. */
#ifndef _MODEL_KERNEL_RETRANS_STAMP_H
#define _MODEL_KERNEL_RETRANS_STAMP_H

#define retrans_stamp_renew(sk) do { } while (0)

#endif /* _MODEL_KERNEL_RETRANS_STAMP_H */
