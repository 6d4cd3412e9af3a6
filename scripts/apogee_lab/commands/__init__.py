# SPDX-License-Identifier: GPL-2.0
"""The verbs of scripts/lab, a file each, and what the Makefile and its scripts call.

main.py has the parser and turns errors into one line and an exit status; options.py is what verbs
share. In: arguments. Out: tables on standard output, all else on standard error. Nothing below may
import this room. man/lab.1 describes the verbs: tests compare it with the parser.
"""
