# SPDX-License-Identifier: GPL-2.0
"""Parts of shake in user space, against protocols written again from their definitions.

aead.py and noise.py are such; wire_core.py and flows_core.py make Python functions of the module's
files, which are compiled as they are. No expected octet comes from the code that is tested.
"""
