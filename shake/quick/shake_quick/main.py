# SPDX-License-Identifier: GPL-2.0
"""The command line."""

from __future__ import annotations

import argparse
import dataclasses
import json
import selectors
import signal
import sys
from collections.abc import Sequence

from . import metrics, show, updown
from .conf import QuickError
from .netlink import Event, Events


def _up(args: argparse.Namespace) -> None:
    updown.up(args.name, args.foreground)


def _down(args: argparse.Namespace) -> None:
    updown.down(args.name)


def _show(args: argparse.Namespace) -> None:
    found = show.tunnels(args.name)
    lines = [json.dumps(found, indent=1)] if args.json else show.text(found)
    for line in lines:
        print(line)


def _metrics(args: argparse.Namespace) -> None:
    print("\n".join(metrics.text(show.tunnels(args.name))))


def _monitor(args: argparse.Namespace) -> None:
    events = Events()
    with selectors.DefaultSelector() as wait:
        wait.register(events.sock, selectors.EVENT_READ)
        while True:
            wait.select()
            found, lost = events.read()
            if lost:
                print("shake-quick: events were lost", file=sys.stderr, flush=True)
            for event in found:
                if args.name in (None, event.ifname):
                    print(_as_json(event) if args.json else event.line(), flush=True)


def _as_json(event: Event) -> str:
    return json.dumps({k: v for k, v in dataclasses.asdict(event).items() if v is not None})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="shake-quick", description="tunnels of type shake")
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    verb = verbs.add_parser("up", help="bring up the tunnel of /etc/shake/NAME.conf")
    verb.add_argument("--foreground", action="store_true", help="stay, as a unit's process")
    verb.add_argument("name", metavar="NAME", help="of the tunnel, or the path of its file")
    verb.set_defaults(do=_up)
    verb = verbs.add_parser("down", help="take it down, with all that up has set")
    verb.add_argument("name", metavar="NAME", help="of the tunnel, or the path of its file")
    verb.set_defaults(do=_down)
    for name, do, text in (
        ("show", _show, "peers, paths, their states"),
        ("monitor", _monitor, "a line for each event"),
        ("metrics", _metrics, "OpenMetrics text"),
    ):
        verb = verbs.add_parser(name, help=text)
        if name != "metrics":
            verb.add_argument("--json", action="store_true", help="as JSON")
        verb.add_argument("name", metavar="NAME", nargs="?", help="only this tunnel")
        verb.set_defaults(do=do)
    return parser


def main(argv: Sequence[str]) -> int:
    args = _parser().parse_args(argv)
    if args.do not in (_up, _down):  # these go on, whoever reads what they tell
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        args.do(args)
    except QuickError as error:
        print(f"shake-quick: {error}", file=sys.stderr)
        return error.status
    except OSError as error:
        print(f"shake-quick: {error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return 0
