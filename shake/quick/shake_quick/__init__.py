# SPDX-License-Identifier: GPL-2.0
"""shake-quick: the standard library and ip(8) are all that it needs.

main -> updown -> commands, tables -> conf      what a file asks for, and the commands for it
     -> follow, show, metrics -> netlink, devices    what the kernel tells
"""
