# SPDX-License-Identifier: GPL-2.0
"""The algorithms without a module: apogee-bpf on a stock kernel, and its BPF programs beside the
modules."""

from __future__ import annotations

import json
import re
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from apogee_lab.algorithms import ALGORITHMS, is_bpf
from apogee_lab.engines import qemu
from tests.bpf import minimum
from tests.guest.runs import Case, Guests, Run, compiled, run_cases

pytestmark = pytest.mark.guest

PROGRAMS = [name for name in ALGORITHMS if is_bpf(name)]
#: Beside whose modules a flow is put: compound_plus has what compound does.
TWINS = ["bpf_star", "bpf_gentle", "bpf_comp_plus"]

#: What is left of the flows goes first.
VERBS = """
export OUT=/out/told; mkdir $OUT; chmod +x /bin/peer
apogee-bpf unload --all; umount /sys/fs/bpf
say() { name=$1; shift; "$@" >$OUT/$name 2>&1; echo "status $?" >>$OUT/$name; }
controls=/proc/sys/net/ipv4/tcp_available_congestion_control
say unmounted apogee-bpf load star
mount -t bpf -o mode=700 bpf /sys/fs/bpf
echo nobody:x:65534:65534::/:/bin/sh >/etc/passwd
say nobody su nobody -c 'apogee-bpf load star'
say nobody_status su nobody -c 'apogee-bpf status'
mkdir /victim; touch /victim/ops /victim/data; mkdir -p /sys/fs/bpf/apogee
ln -s /victim /sys/fs/bpf/apogee/star
chown nobody /sys/fs/bpf/apogee
say foreign apogee-bpf load star
say foreign_all apogee-bpf unload --all
say victim ls /victim
rm -r /sys/fs/bpf/apogee
ln -s /victim /sys/fs/bpf/apogee
say link apogee-bpf load star
rm /sys/fs/bpf/apogee
mkdir -m 777 /sys/fs/bpf/apogee
say open apogee-bpf load star
rmdir /sys/fs/bpf/apogee
bpftool map create /sys/fs/bpf/apogee type array key 4 value 4 entries 1 name mine
say pinned apogee-bpf load star
say pinned_status apogee-bpf status
say pinned_all apogee-bpf unload --all
rm /sys/fs/bpf/apogee
peer locked /sys/fs/bpf 40 & locker=$!
sleep 0.1; say locked apogee-bpf load star
kill $locker
printf 'star aen=0\\r\\n\\r\\n' >/tmp/file
say file apogee-bpf load --file /tmp/file
printf '# all\\rstar\\r' >/tmp/line
say line apogee-bpf load --file /tmp/line
say file_state apogee-bpf status star
say file_unload apogee-bpf unload star
say range apogee-bpf load star aen=2
say unknown apogee-bpf load star gamma=3
say no_such apogee-bpf load vegas
say before cat $controls
say one apogee-bpf load star & say two apogee-bpf load star & wait
say both apogee-bpf unload star
say load apogee-bpf load star hstcp_gentle compound_plus compound
say twice apogee-bpf load bpf_star
peer tai 37
apogee-bpf set compound_plus gamma=0 2>/dev/null
say tai_refused bpftool map dump pinned /sys/fs/bpf/apogee/compound_plus/data
apogee-bpf set compound_plus gamma=30
say tai bpftool map dump pinned /sys/fs/bpf/apogee/compound_plus/data
ip link add silent type veth peer name far
ip addr add 192.0.2.2/24 dev silent; ip link set silent up; ip link set far up
ip route add 203.0.113.0/25 via 192.0.2.1
ip neigh add 192.0.2.1 lladdr 02:00:00:00:00:01 dev silent
sysctl -q -w net.ipv4.tcp_congestion_control=bpf_star
nc 192.0.2.1 9 & client=$!
sleep 0.3; sysctl -q -w net.ipv4.tcp_congestion_control=cubic
say silent apogee-bpf status star
kill $client
sysctl -q -w net.ipv4.tcp_congestion_control=bpf_star
ip link set lo up; nc -ll -p 7 -e cat & server=$!
sleep 0.3
{ echo 1; sleep 2; } | nc ::1 7 >/dev/null &
{ echo 1; sleep 2; } | nc 127.0.0.1 7 >/dev/null &
sleep 1; say six apogee-bpf status star
sysctl -q -w net.ipv4.tcp_congestion_control=cubic; kill $server
say loaded cat $controls
say set apogee-bpf set star aen=0 coexist=0
say set_range apogee-bpf set star aen=0x10
say set_unknown apogee-bpf set star alpha=3
say set_blank apogee-bpf set star 'aen= -18446744073709551615'
say set_second apogee-bpf set star aen=1 coexist=1 pacing=2
say state apogee-bpf status
say list apogee-bpf list
say full sh -c 'apogee-bpf list >/dev/full'
sysctl -q -w net.ipv4.tcp_congestion_control=bpf_star
say default apogee-bpf unload star
sysctl -q -w net.ipv4.tcp_congestion_control=cubic
umount -l /proc
say blind_load apogee-bpf load star
say blind_unload apogee-bpf unload star
mount -t proc proc /proc
say seen apogee-bpf status star
bpftool map delete pinned /sys/fs/bpf/apogee/star/ops key 0 0 0 0
say left_set apogee-bpf set star aen=1
say left apogee-bpf status
say left_unload apogee-bpf unload star
mkdir -p /sys/fs/bpf/apogee/star
bpftool map create /sys/fs/bpf/apogee/star/mine type array key 4 value 4 entries 1 name mine
say beside apogee-bpf load star
rm -r /sys/fs/bpf/apogee/star
say taken apogee-bpf load star
say unload apogee-bpf unload hstcp_gentle compound_plus compound
say unloaded apogee-bpf status compound
for n in 1 2; do say object$n apogee-bpf load /bin/minimum.bpf.o; done
say object_json apogee-bpf status --json
say object_metrics apogee-bpf status --metrics
say choose apogee-bpf choose 203.0.113.0/24 bpf_minimum
say choose_dev apogee-bpf choose dev silent bpf_minimum
say routes ip -4 route
say choose_none apogee-bpf choose dev silent none
say routes_none ip -4 route
hops='nexthop via 192.0.2.1 dev silent nexthop via 192.0.2.3 dev silent weight 2'
ip route add 198.51.100.0/24 $hops
ip -4 route add default via 192.0.2.1
ip -6 route add default via fe80::1 dev silent expires 1000
say choose_paths apogee-bpf choose 198.51.100.0/24 bpf_minimum
say choose_default apogee-bpf choose default bpf_minimum
chosen() { for to in 198.51.100.0/24 default; do ip -o route show exact $to; done; ip -6 route; }
say routes_chosen chosen
say object_unload apogee-bpf unload bpf_minimum
say empty apogee-bpf load compound gamma=
say after cat $controls
say pins ls /sys/fs/bpf/apogee
"""


UNLOAD = "apogee-bpf unload --all"
WATCHED = """
sleep 3
nsenter --net=/run/netns/snd apogee-bpf status {cc} >$OUT/bpf
timeout 1 apogee-bpf trace {cc} >$OUT/trace 2>&1
apogee-bpf status {cc} >$OUT/elsewhere
apogee-bpf unload {cc} 2>$OUT/unload
apogee-bpf load {cc} 2>>$OUT/unload
nsenter --net=/run/netns/snd apogee-bpf status {cc} >$OUT/again
"""


#: Traces that end by SIGKILL and by a closed pipe, one beside another, one after them, one whose
#: reader waits for five seconds, one that is stopped for as long, one that begins with SIGALRM
#: blocked, one with hangups ignored, and one that ends while its reader does not read; how many
#: records are written in a second, while a trace is read and later than it was killed.
TRACED = """
written() { functions=/sys/kernel/tracing
	echo bpf_ringbuf_reserve >$functions/set_ftrace_filter
	echo function >$functions/current_tracer; sleep 1
	grep -c bpf_ringbuf_reserve $functions/trace; echo nop >$functions/current_tracer; }
sleep 2
apogee-bpf trace bpf_star >$OUT/killed & reader=$!
sleep 1
timeout 1 apogee-bpf trace bpf_star >$OUT/beside 2>&1
written >$OUT/while
kill -KILL $reader
sleep 3; written >$OUT/later
apogee-bpf trace bpf_star | head -n 1 >$OUT/head
sleep 2
cut -d' ' -f1 /proc/uptime >$OUT/began
timeout 2 apogee-bpf trace bpf_star >$OUT/trace
timeout 7 apogee-bpf trace bpf_star 2>$OUT/waited | { sleep 5; cat; } >$OUT/slow
apogee-bpf trace bpf_star >$OUT/stopped 2>$OUT/missed & reader=$!
sleep 1; kill -STOP $reader; sleep 5; kill -CONT $reader; sleep 1; kill -INT $reader; wait $reader
chmod +x /bin/peer
peer blocked 14 timeout 4 apogee-bpf trace bpf_star >$OUT/blocked
sh -c 'trap "" HUP; exec apogee-bpf trace bpf_star' >$OUT/hangup & reader=$!
sleep 1; kill -HUP $reader; sleep 1; kill -INT $reader; wait $reader
{ timeout -k 3 2 apogee-bpf trace bpf_star 2>$OUT/ended; echo $? >$OUT/end; } |
	{ sleep 7; cat; } >$OUT/cut
"""
#: All of a flow's beginning, with the loss that ends slow start.
BEGINNING = "timeout 11 apogee-bpf trace hstcp_gentle >$OUT/trace 2>&1"


@pytest.fixture(scope="module")
def runs(build: Path, stock_modules: Path) -> Guests:
    """A flow of each algorithm as module, and as BPF program that is unloaded while it runs; one
    whose beginning is traced; what the loader says. In another guest: all kinds of traces.
    """
    slow = {"ber": 0, "rate": 2_000_000, "queue": 125_000}
    cases = {ALGORITHMS[name].bpf: Case(slow, ALGORITHMS[name].bpf, 6) for name in TWINS}
    cases |= {name: Case(slow, name, 6, WATCHED.format(cc=name), after=UNLOAD) for name in PROGRAMS}
    # a pipe is full within two seconds
    cases["traced"] = Case({"ber": 0, "queue": 62_500}, "bpf_star", 45, TRACED, after=UNLOAD)
    cases["beginning"] = Case(slow | {"queue": 12_500}, "bpf_gentle", 12, BEGINNING, after=VERBS)
    files = {
        "bin/peer": compiled(Path(__file__).with_name("peer.c")),
        "bin/minimum.bpf.o": minimum.build(),
    }
    run = partial(run_cases, build, extras=["bpftool"], files=files, engine=qemu)
    return Guests(run, "bpf", cases, ["traced"])


@pytest.fixture(scope="module")
def told(runs: Guests) -> dict[str, str]:
    """What each command of VERBS printed, with its status."""
    folder = runs["beginning"].raw.with_name("told")
    return {path.name: path.read_text() for path in folder.iterdir()}


FOREIGN = "not a folder that only root or this user may change"
CONTROLS = "/proc/sys/net/ipv4"
NONE = "No such file or directory"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("unmounted", "no BPF file system: mount -t bpf -o mode=700 bpf /sys/fs/bpf"),
        ("nobody", "no CAP_BPF: run as root"),
        ("nobody_status", "/sys/fs/bpf/apogee: Permission denied: run as root"),
        ("foreign", f"/sys/fs/bpf/apogee: {FOREIGN}"),
        ("link", f"/sys/fs/bpf/apogee: {FOREIGN}"),
        ("open", f"/sys/fs/bpf/apogee: {FOREIGN}"),
        ("pinned", f"/sys/fs/bpf/apogee: {FOREIGN}"),
        ("locked", "/sys/fs/bpf cannot be locked: another process has it"),
        ("blind_load", f"{CONTROLS}/tcp_available_congestion_control: {NONE}"),
        ("blind_unload", f"{CONTROLS}/tcp_congestion_control: {NONE}"),
        ("left_set", "star is not loaded"),
        ("line", "/tmp/line:1: a carriage return within the line"),
        ("range", "parameter aen must be 0 to 1"),
        ("unknown", "star has no parameter gamma; see apogee-bpf list"),
        ("no_such", "unknown algorithm vegas; see apogee-bpf list"),
        ("twice", "bpf_star is already loaded"),
        ("set_range", "parameter aen must be 0 to 1"),
        ("set_blank", "parameter aen must be 0 to 1"),
        ("set_second", "parameter pacing must be 0 to 1"),
        ("full", "standard output: No space left on device"),
        ("set_unknown", "unknown parameter alpha; see apogee-bpf list"),
        ("taken", "bpf_star: the name is taken by another congestion control"),
        ("unloaded", "compound is not loaded"),
        ("object2", "bpf_minimum is already loaded"),
        ("empty", "gamma= has no value: want gamma=NUMBER, 1 to 65535"),
    ],
)
def test_a_refusal_is_one_line(told: dict[str, str], command: str, line: str) -> None:
    said, status = told[command].splitlines()
    assert said == f"apogee-bpf: {line}"
    assert re.fullmatch("status [1-9][0-9]*", status)


def test_two_loads_at_once_leave_what_can_be_unloaded(told: dict[str, str]) -> None:
    assert sorted([told["one"], told["two"]]) == [
        "apogee-bpf: bpf_star is already loaded\nstatus 1\n",
        "status 0\n",
    ]
    assert told["both"] == "status 0\n"


@pytest.mark.parametrize(
    "command",
    [
        *("foreign_all", "pinned_all"),  # what a stranger put in place of the pins is left alone
        *("file", "file_unload"),  # lines of a file may end as those of other systems
        "left_unload",  # what an interrupted unload left
        "beside",  # what others pinned beside does not prevent a load
        *("load", "unload"),
        *("object1", "object_unload", "choose", "choose_dev", "choose_none"),
        *("choose_paths", "choose_default"),
    ],
)
def test_nothing_is_said_of_what_is_done(told: dict[str, str], command: str) -> None:
    assert told[command] == "status 0\n"


def test_what_is_done_can_be_seen(told: dict[str, str]) -> None:
    assert told["victim"] == "data\nops\nstatus 0\n"
    assert " aen=0 " in told["file_state"]
    assert told["left"].endswith("status 0\n") and "bpf_star" not in told["left"]
    assert told["default"].startswith("apogee-bpf: bpf_star is the default; ")
    # What cannot be read is not taken for a no.
    assert told["seen"].endswith("status 0\n") and told["seen"].startswith("star, as bpf_star: ")


def test_what_is_loaded_is_offered_and_what_is_unloaded_is_not(told: dict[str, str]) -> None:
    assert set(PROGRAMS) <= set(told["loaded"].split())
    assert not set(PROGRAMS) & set(told["before"].split())
    assert [name for name in told["after"].split() if name in PROGRAMS] == ["bpf_star"]
    assert not told["pins"].startswith(("star", "compound"))


def test_an_object_is_loaded_and_chosen_by_destination(told: dict[str, str]) -> None:
    state, status = told["object_json"].rsplit("\n", 2)[:2]
    assert status == "status 0"
    minimum = json.loads(state)[-1]
    assert (minimum["name"], minimum["default"]) == ("bpf_minimum", False)
    assert 'apogee_bpf_loaded{name="bpf_minimum"} 1\n' in told["object_metrics"]
    assert told["object_metrics"].endswith("# EOF\nstatus 0\n")
    wanted = ["192.0.2.0/24 ", "203.0.113.0/24 via 192.0.2.1 ", "203.0.113.0/25 via 192.0.2.1 "]
    for name, chosen in ("routes", True), ("routes_none", False):
        lines = [line for line in told[name].splitlines() if "dev silent" in line]
        assert [line.startswith(start) for line, start in zip(lines, wanted, strict=True)]
        assert ["congctl bpf_minimum" in line for line in lines] == [chosen] * 3


def test_routes_with_several_next_hops_or_an_end_are_chosen_whole(told: dict[str, str]) -> None:
    """ip(8) and the kernel take what is made of what it shows."""
    paths, four, *six, status = told["routes_chosen"].splitlines()
    assert status == "status 0" and told["pinned_status"].startswith("nothing is loaded")
    assert "congctl bpf_minimum" in paths and paths.count("nexthop via 192.0.2.") == 2
    assert "weight 2" in paths
    (default,) = (line for line in six if line.startswith("default"))
    assert "congctl bpf_minimum" in four and "congctl bpf_minimum" in default
    assert 900 < int(re.search(r"expires (\d+)sec", default)[1]) <= 1000  # type: ignore[index]


def test_the_difference_of_utc_and_tai_is_learned_when_a_parameter_is_set(
    told: dict[str, str],
) -> None:
    """A refused set changes nothing."""
    assert re.search(r'"apogee_tai_offset": 0\b', told["tai_refused"])
    assert re.search(r'"apogee_tai_offset": 37000000000\b', told["tai"])


def test_addresses_are_written_as_ss_does(told: dict[str, str]) -> None:
    """A socket that is not connected is not listed."""
    assert len(told["silent"].splitlines()) == 2
    near = [line.split()[0] for line in told["six"].splitlines()[1:-1]]
    assert sorted(re.sub(r"\d{2,}$", "", address) for address in near) == [
        "127.0.0.1:", "[::1]:", "[::1]:7", "[::ffff:127.0.0.1]:7",
    ]  # fmt: skip


def test_parameters_are_those_of_the_module(told: dict[str, str]) -> None:
    assert "star, as bpf_star: first_interval_us=1000 aen=0 pacing=1 coexist=0\n" in told["state"]
    assert "compound, as bpf_compound: gamma=30 alpha=125 beta=500 k=750 zeta=1000" in told["state"]
    assert re.search("^  gamma +number of queued packets .*, 1 to 65535 ", told["list"], re.M)


@pytest.mark.parametrize("name", TWINS)
def test_a_flow_is_that_of_the_module(runs: Guests, name: str) -> None:
    """Within 1 %: a path without errors is deterministic, and the kernel is the same."""
    module = runs[ALGORITHMS[name].bpf].record["total_goodput_bps"]
    assert runs[name].record["total_goodput_bps"] == pytest.approx(module, rel=0.01)


@pytest.mark.parametrize("name", PROGRAMS)
def test_status_lists_the_sockets_of_the_namespace(runs: Guests, name: str) -> None:
    lines = runs[name].text("bpf").splitlines()[1:]
    found = [dict(zip(words[2::2], words[3::2], strict=True)) for words in map(str.split, lines)]
    assert len(found) == 1
    assert int(found[0]["cwnd"]) > 10
    assert 490_000 < int(found[0]["min_rtt_us"]) < 520_000
    assert 1e6 < int(found[0]["bandwidth"]) < 20e6
    assert len(runs[name].text("elsewhere").splitlines()) == 1


@pytest.mark.parametrize("name", PROGRAMS)
def test_trace_has_the_modules_tracepoints(runs: Guests, name: str) -> None:
    line = runs[name].text("trace").splitlines()[0]
    assert re.match(
        r"[0-9]+\.[0-9]{6} (star_ack|hstcp_gentle_window|compound_round) [a-z_]+=", line
    )
    assert " dport=5201 " in line


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_socket_goes_on_when_its_algorithm_is_unloaded(runs: Guests, name: str) -> None:
    assert runs[name].text("unload") == ""
    lines = runs[name].text("again").splitlines()[1:]
    assert len(lines) == 1 and lines[0].endswith(":5201 of an earlier load")


def times_of(run: Run, name: str) -> list[float]:
    """When the records of a trace were made, s."""
    return [float(line.split()[0]) for line in run.text(name).splitlines()]


@pytest.mark.deep
def test_records_end_soon_after_their_reader(runs: Guests) -> None:
    assert int(runs["traced"].text("while")) > 0
    assert int(runs["traced"].text("later")) == 0


@pytest.mark.deep
def test_no_record_is_missing_while_the_reader_waits(runs: Guests) -> None:
    """An ACK comes every 2.4 ms; the pipe and the ring buffer hold what comes in five seconds."""
    run = runs["traced"]
    times = times_of(run, "slow")
    assert max(b - a for a, b in pairwise(times)) < 0.5
    assert run.text("waited") == ""


@pytest.mark.deep
def test_a_trace_that_was_stopped_says_what_is_missing(runs: Guests) -> None:
    """The programs go on for up to two seconds."""
    run = runs["traced"]
    times = times_of(run, "stopped")
    said = re.fullmatch(
        r"apogee-bpf: star: no records for (\S+) s, while this program was stopped\n",
        run.text("missed"),
    )
    assert said and 2.9 <= float(said[1]) <= 3.6
    assert max(b - a for a, b in pairwise(times)) == pytest.approx(float(said[1]), abs=0.1)


@pytest.mark.deep
def test_a_trace_has_nothing_of_the_one_before(runs: Guests) -> None:
    run = runs["traced"]
    times = times_of(run, "trace")
    assert len(run.text("head").splitlines()) == 1 and run.text("killed")
    assert times and min(times) >= float(run.text("began"))


@pytest.mark.deep
@pytest.mark.parametrize(("name", "seconds"), [("blocked", 3.0), ("hangup", 1.5)])
def test_a_trace_goes_on_whatever_its_parent_blocks(
    runs: Guests, name: str, seconds: float
) -> None:
    """It needs no signal that is blocked, and may ignore hangups."""
    times = times_of(runs["traced"], name)
    assert times[-1] - times[0] > seconds


@pytest.mark.deep
def test_a_trace_whose_reader_waits_ends_at_once(runs: Guests) -> None:
    """One signal is enough, and nothing is written behind the record that it cuts."""
    run = runs["traced"]
    assert run.text("ended") == "apogee-bpf: the reader has not taken the last records\n"
    assert run.text("end") != "137\n"
    *whole, _ = run.text("cut").split("\n")
    assert whole and all(re.match(r"[0-9]+\.[0-9]{6} star_ack ", line) for line in whole)


@pytest.mark.deep
def test_an_algorithm_has_one_trace_at_a_time(runs: Guests) -> None:
    assert runs["traced"].text("beside") == "apogee-bpf: star is traced already\n"


def test_a_fall_of_the_rtt_is_negative(runs: Guests) -> None:
    changes = [int(found) for found in re.findall(r"change=(\S+)", runs["beginning"].text("trace"))]
    assert min(changes) < 0 < max(changes)
    assert max(map(abs, changes)) < 10_000_000


@pytest.mark.deep
def test_the_least_that_bpf_costs_can_be_measured() -> None:
    assert minimum.measure(0.0, 3.0)["acks"] > 100
