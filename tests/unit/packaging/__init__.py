# SPDX-License-Identifier: GPL-2.0
"""What users install and read: packages, recipes, man pages, pages, make's targets, plug-ins of ip.

In: files of the tree. Nothing is installed, and no module is loaded; a plug-in is tried with the
machine's ip, which asks a stand-in for the kernel.
"""
