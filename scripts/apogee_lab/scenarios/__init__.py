# SPDX-License-Identifier: GPL-2.0
"""The scenarios the lab knows, by name.

In: parameters as typed. Out: a Plan (scenario.py): a shell script, and the facts that measures need
of it. A file per scenario also has its measures and columns; the others here are what scenarios
share: testbed.py and traffic.py lines of script, moving.py paths that change, sending.py hosts. A
script must run by hand and clean up after itself. Equal values give the same script: a new
parameter must leave it as it is at its default, or kept runs are run again.
"""

from __future__ import annotations

from .leo import LEO
from .lfn import LFN
from .liar import LIAR
from .multipath import MULTIPATH
from .radio import RADIO
from .requests import REQUESTS
from .satellite import SATELLITE
from .scenario import Scenario
from .shared import SATELLITE_SHARED
from .wlan import WLAN

SCENARIOS: dict[str, Scenario] = {
    s.name: s
    for s in (SATELLITE, SATELLITE_SHARED, REQUESTS, LEO, LFN, WLAN, RADIO, MULTIPATH, LIAR)
}
