# SPDX-License-Identifier: GPL-2.0
"""The atlas: algorithms on random paths of a space, and what the bad paths share.

In: a file of ``spaces``, read by space.py. Out: runs for a sweep or the model (jobs.py,
modelled.py), and of their results quantiles, a page and a picture. A path is made of the space's
name, seed, its number and the quantity's name alone: what is drawn for one must never depend on
another, or all kept lines are of other paths.
"""
