# SPDX-License-Identifier: GPL-2.0
"""`lab list`, `lab script`, `lab shell`: scenarios without a measurement."""

from __future__ import annotations

import sys
from dataclasses import replace

from .. import units
from ..algorithms import listed
from ..base import LabError, find_program
from ..engines import registry
from ..engines.registry import ENGINES
from ..runs import request
from .options import (
    Arguments,
    compiled_plan,
    duration_of,
    kernel_with_given,
    modules_for,
    one_plan,
)


def do_list(_args: Arguments) -> int:
    """Scenarios with their parameters; algorithms; engines."""
    from ..scenarios import SCENARIOS

    for scenario in SCENARIOS.values():
        print(f"{scenario.name}: {scenario.help}")
        lines = [["parameter", "default", "unit or values", "range", ""]]
        for param in scenario.params:
            base, words = units.split_kind(param.kind)
            kind = units.unit_name(param.kind)
            if base.startswith("choice:"):
                kind = base.removeprefix("choice:").replace(",", " | ")
            kind = " | ".join([kind, *words] if kind else words)
            default = units.format(param.kind, param.default)
            lines.append([param.name, default, kind, request.bounds(param), param.help])
        widths = [max(len(line[i]) for line in lines) for i in range(4)]
        for line in lines:
            cells = [text.ljust(width) for text, width in zip(line, widths, strict=False)]
            print("  " + "  ".join([*cells, line[4]]).rstrip())
        print()
    print("MODULE.PARAM=VALUE sets a parameter of a module, as in --set star.aen=0")
    print(f"this project's congestion controls: {' '.join(listed(own=True))}")
    print(
        f"the kernel's, as far as it has them; its others work, too: {' '.join(listed(own=False))}"
    )
    print(f"engines: {' '.join(ENGINES)}")
    return 0


def do_script(args: Arguments) -> int:
    """The shell script a scenario compiles to."""
    scenario, mix, values = one_plan(args, ["traffic=iperf3"])
    sys.stdout.write(compiled_plan(scenario, mix, values, duration_of(args)).script)
    return 0


def do_shell(args: Arguments) -> int:
    """A shell prompt inside the testbed."""
    engine = registry.engine_of(args.engine)
    scenario, mix, values = one_plan(args)
    kernel = kernel_with_given(engine, args)
    plan = compiled_plan(scenario, mix, values, duration_of(args))
    settings = {key: [str(value)] for key, value in values.items()}
    own = modules_for(engine, kernel, scenario, [plan], settings)
    plan = replace(plan, extras=(*plan.extras, *_by_hand()))
    return engine.shell(plan, kernel=kernel, modules=own)


def _by_hand() -> tuple[str, ...]:
    """What a person types at a prompt and no script needs, as far as this machine has it."""
    try:
        find_program("iperf3", "iperf3")
    except LabError as error:
        print(f"lab shell: {error}", file=sys.stderr)
        return ()
    return ("iperf3",)
