# SPDX-License-Identifier: GPL-2.0
"""A report card of congestion controls by RFC 9743 (BCP 133): criteria as data, what runs show of
them, the card as a page, as Markdown and as JSON."""
