# SPDX-License-Identifier: GPL-2.0
"""What tcp_star.c itself does with the judgement, its functions called on a socket of the model."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

import pytest

from .cheaders import SANITIZERS, WARNINGS, gcc

NUMBERS = "mode cwnd_reno cwnd_abe clear large test dip ratio link skip".split()
OPEN, RECOVERY = 0, 3
START, CRUISE, SLOW, MARKED, YIELD, JUDGE = range(1, 7)

#: NAME(sk, number) for each function that is called here; the state goes in and comes out.
CODE = """
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wsign-compare"
#include "../../tcp_star.c"

u64 model_now;

int tcp_register_congestion_control(struct tcp_congestion_ops *ops)
{
	return 0;
}

void tcp_unregister_congestion_control(struct tcp_congestion_ops *ops)
{
}

void model_add_param(struct kernel_param *param)
{
}

struct state {
	u32 %(fields)s;
};

static struct sock sk;

static void put(const struct state *t)
{
	struct star *s = inet_csk_ca(&sk);

	s->w.mode = t->mode;
	s->w.cwnd_reno = t->cwnd_reno;
	s->w.cwnd_abe = t->cwnd_abe;
	s->w.clear = t->clear;
	s->j.large = t->large;
	s->j.test = t->test;
	s->j.dip = t->dip;
	s->j.ratio = t->ratio;
	s->j.link = t->link;
	s->j.skip = t->skip;
}

static void get(struct state *t)
{
	const struct star *s = inet_csk_ca(&sk);

	t->mode = s->w.mode;
	t->cwnd_reno = s->w.cwnd_reno;
	t->cwnd_abe = s->w.cwnd_abe;
	t->clear = s->w.clear;
	t->large = s->j.large;
	t->test = s->j.test;
	t->dip = s->j.dip;
	t->ratio = s->j.ratio;
	t->link = s->j.link;
	t->skip = s->j.skip;
}

void take_back(struct state *t, u32 cwnd)
{
	memset(&sk, 0, sizeof(sk));
	coexist = 2;
	put(t);
	star_take_back(&sk, cwnd);
	get(t);
}

/* A loss event for which the stack asks, and which it undoes. */
u32 undo(struct state *t)
{
	u32 cwnd;

	memset(&sk, 0, sizeof(sk));
	coexist = 2;
	put(t);
	tcp_sk(&sk)->snd_cwnd = star_cwnd(&((struct star *)inet_csk_ca(&sk))->w);
	star_ssthresh(&sk);
	cwnd = star_undo_cwnd(&sk);
	get(t);
	return cwnd;
}

/* A timeout in this state of the stack's, of 100 segments. */
void timeout(struct state *t, u32 ca_state)
{
	memset(&sk, 0, sizeof(sk));
	coexist = 2;
	put(t);
	tcp_sk(&sk)->snd_cwnd = star_cwnd(&((struct star *)inet_csk_ca(&sk))->w);
	tcp_sk(&sk)->snd_cwnd_clamp = ~0U;
	tcp_sk(&sk)->snd_una = 1000;
	tcp_sk(&sk)->snd_nxt = 1100;
	inet_csk(&sk)->icsk_ca_state = ca_state;
	star_ssthresh(&sk);
	tcp_sk(&sk)->snd_cwnd = 1;
	star_set_state(&sk, TCP_CA_Loss);
	inet_csk(&sk)->icsk_ca_state = TCP_CA_Loss;
	get(t);
}

/* Then an ACK of so many of them, without SACK and timestamps. */
void acked(struct state *t, u32 count)
{
	tcp_sk(&sk)->snd_una += count;
	star_check_aen(&sk);
	get(t);
}
"""


class State(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in NUMBERS]  # noqa: RUF012


@pytest.fixture(scope="module")
def star(root: Path, build: Path) -> Any:
    """The module's functions, compiled as in the model."""
    variant = os.environ.get("APOGEE_UNIT", "plain")
    folder = build / "unit" / variant
    folder.mkdir(parents=True, exist_ok=True)
    flags = [*WARNINGS, *(SANITIZERS if variant == "sanitized" else [])]
    library = folder / "star_calls.so"
    here = root / "tests" / "model"
    text = CODE.replace("%(fields)s", ", ".join(NUMBERS)).replace("../../", f"{root}/")
    flags += ["-shared", "-fPIC", "-I", str(here / "include"), "-I", str(root / "include")]
    gcc(*flags, "-x", "c", "-", "-o", library, text=text)
    return ctypes.CDLL(str(library))


def state(**fields: int) -> State:
    return State(**{"mode": YIELD, "cwnd_reno": 100, "cwnd_abe": 400, "link": 12} | fields)


@pytest.mark.parametrize("large", [0, 1])
@pytest.mark.parametrize(
    ("abe", "cwnd", "cruises"),
    [
        (400, 300, True),
        (400, 299, False),
        (400, 401, True),
        # a quarter is rounded down
        (403, 303, True),
        (403, 302, False),
        (3, 3, True),
        (3, 2, False),
        (0, 2, True),
        (2**30, 3 * 2**28, True),
        (2**30, 3 * 2**28 - 1, False),
    ],
)
def test_a_cut_that_is_taken_back(
    star: Any, abe: int, cwnd: int, cruises: bool, large: int
) -> None:
    """From three quarters of cwnd_abe on ABE's share counts again: the window is cwnd_abe and one,
    or what was asked for. Below it is that, and it is time to try whether there is more room.
    """
    t = state(cwnd_abe=abe, large=large)
    star.take_back(ctypes.byref(t), cwnd)
    assert (t.mode, t.clear) == (CRUISE if cruises else YIELD, 64)
    assert t.cwnd_reno == (max(cwnd - abe, 1) if cruises else cwnd)


@pytest.mark.parametrize("mode", [START, CRUISE, SLOW, MARKED])
def test_only_a_window_that_yields_takes_back(star: Any, mode: int) -> None:
    t = state(mode=mode)
    star.take_back(ctypes.byref(t), 399)
    assert (t.mode, t.cwnd_reno, t.clear) == (mode, 100, 0)


TEST = {"test": 2, "dip": 1, "ratio": 100}


def left(t: State) -> tuple[int, int, int, int, int]:
    """What is left of tests, the belief, and the rounds until losses tell."""
    return t.test, t.dip, t.ratio, t.link, t.skip


@pytest.mark.parametrize("mode", [CRUISE, YIELD])
def test_an_undo_ends_a_test(star: Any, mode: int) -> None:
    """The window is the one of before, not the test's."""
    t = state(mode=mode, link=50, **TEST)
    assert star.undo(ctypes.byref(t)) == (500 if mode == CRUISE else 100)
    assert left(t) == (0, 0, 0, 50, 1)


def test_the_verdict_on_a_timeout_ends_a_test(star: Any) -> None:
    """All data arrived: the window of before; or not: from the start. Until then no round ends, and
    all stays.
    """
    for count, mode in ((100, YIELD), (50, SLOW)):
        t = state(link=50, **TEST)
        star.timeout(ctypes.byref(t), OPEN)
        assert t.mode == JUDGE
        star.acked(ctypes.byref(t), 0)
        assert (t.mode, *left(t)) == (JUDGE, 2, 1, 100, 50, 0)
        star.acked(ctypes.byref(t), count)
        assert (t.mode, *left(t)) == (mode, 0, 0, 0, 50, 1)


def test_a_timeout_with_nothing_to_judge_ends_a_test(star: Any) -> None:
    """One in recovery for which the stack asks, a second one."""
    t = state(link=50, **TEST)
    star.timeout(ctypes.byref(t), RECOVERY)
    assert (t.mode, t.cwnd_reno, *left(t)) == (SLOW, 10, 0, 0, 0, 50, 1)
