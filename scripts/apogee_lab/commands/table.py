# SPDX-License-Identifier: GPL-2.0
"""`lab table`: the table of existing records, or some columns of it across a setting's values."""

from __future__ import annotations

from ..base import UsageError
from ..results import table
from ..results.text import Record
from .chosen import filtered, records_of
from .compare_engines import GOODPUT, chosen_columns
from .options import Arguments, Parser, _add_filter


def do_table(args: Arguments) -> int:
    """Print the table."""
    found = filtered(records_of(args.records), args)
    if args.across or args.of:
        if args.compare:
            raise UsageError("--compare takes neither --across nor --of")
        print(table.captioned(found, _some(found, args), args.format))
        return 0
    if args.compare and args.compare not in {record["cc"] for record in found}:
        raise UsageError(f"--compare {args.compare}: no record of that algorithm")
    print(table.render(found, args.format, args.compare))
    return 0


def _some(found: list[Record], args: Arguments) -> list[list[str]]:
    wanted = chosen_columns(args.of or GOODPUT, found)
    if not args.across:
        return table.rows(found, wanted)
    names = ["cc", *table.varying(found)]
    if args.across not in names:
        raise UsageError(f"--across {args.across}: choose from: {', '.join(names)}")
    return table.across(found, args.across, wanted)


def table_parser(parser: Parser) -> None:
    parser.add_argument("records", nargs="+", metavar="RECORDS")
    parser.add_argument("--format", choices=("text", "md"), default="text")
    parser.add_argument("--compare", metavar="CC", help="goodput of CC relative to the others")
    parser.add_argument(
        "--across", metavar="SETTING",
        help="a column for each value of this setting, or of cc, instead of one per measure",
    )  # fmt: skip
    parser.add_argument(
        "--of", metavar="A,B", help="only these columns, by their headings; with --across: goodput"
    )
    _add_filter(parser)
