# SPDX-License-Identifier: GPL-2.0
"""The scenarios the lab knows, by name."""

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
