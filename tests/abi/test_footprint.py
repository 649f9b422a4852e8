"""Tutti opens, makes and starts what docs/for-administrators.md says, and nothing else."""

from __future__ import annotations

import re
import subprocess

import pytest
from conftest import FRONT, LIBRARIES, ROOT, SECONDS

PAGE = (ROOT / "docs/for-administrators.md").read_text()
COLLECTIVES = (ROOT / "docs/generated/collectives.md").read_text()

DOCUMENTED = {
    r"{library}/libtutti(-\w+)?\.so": "libtutti.so",
    r"{library}/\.\.(/\.\.)?/share/tutti/rules\.json": "`share/tutti/rules.json`",
    r"{home}/\.config/tutti/rules\.json": "`tutti/rules.json` in `XDG_CONFIG_HOME` or `~/.config`",
    r"{home}/\.cache/tutti/learned-[\d.]+\.json(\.\w{{6}})?": "`learned-VERSION.json` in the cache folder",
    r"{home}/\.cache/tutti/machine": "`machine` there",
    r"/proc/sys/kernel/random/boot_id": "`/proc/sys/kernel/random/boot_id`",
    r"/proc/self/timens_offsets": "`/proc/self/timens_offsets`",
    r"/proc/self/cgroup": "`/proc/self/cgroup`",
    r"/sys/fs/cgroup/.*cpu\.(max|cfs_(quota|period)_us)": "of its control group",
    r"/sys/devices/system/(cpu|node).*": "`/sys/devices/system`",
    r"/sys/class/(net|infiniband|cxi).*": "`/sys/class` (network)",
    r"/proc/\d+/fd/\d+": "`/proc/PID/fd/N` of ranks",
    r"{program}": "the program and its libraries",
    r"{report}": "the file of `TUTTI_REPORT`",
}
"""The paths that Tutti may open beyond those of the MPI, and the words of the page for each."""

# Of the MPI and the program loader, with names that differ between runs; the MPI looks at /proc/PID
# of other ranks too.
OF_THE_MPI = re.compile(
    r"/dev/shm/(mpich|ucx|vader|open_mpi|osc)|/tmp/(ompi|openmpi|pmix)|/etc/|/usr/|/lib|/dev/(?!shm)|"
    r"/proc/(self|\d+)/(maps|stat|status|task|ns|exe|comm)"
)
CALLS = "open,openat,socket,connect,memfd_create,clone,clone3"


def trace(mpi, folder, program, settings, preload):
    """What each rank asked of the system: the text of all calls that succeeded."""
    folder.mkdir()
    # A file for each thread: calls of two in one file would be cut in two lines.
    command = ["strace", "-ff", "-qq", "-e", f"trace={CALLS}", "-e", "signal=none", "-o"]
    rank = "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"
    script = f'trace=$1; shift; exec {" ".join(command)} "$trace/{rank}" "$@"'
    line, environment = mpi.launch(
        "sh", "-c", script, "trace", folder, *preload_words(preload), program,
        np=2, preload=(), settings=settings,
    )  # fmt: skip
    done = subprocess.run(line, capture_output=True, text=True, timeout=SECONDS, env=environment)
    assert done.returncode == 0, done.stderr
    calls = "".join(file.read_text() for file in sorted(folder.iterdir()))
    return [line for line in calls.splitlines() if not re.search(r"= -1 ", line)]


def preload_words(preload):
    return ["env", f"LD_PRELOAD={':'.join(map(str, preload))}"] if preload else ["env"]


def opened(calls):
    found = [re.search(r'open(?:at)?\([^"]*"([^"]+)"', call) for call in calls]
    return {match[1] for match in found if match}


@pytest.fixture
def traced(mpi, tmp_path):
    """The calls of a run without Tutti and of one with everything that opens files."""
    home = tmp_path / "home"
    home.mkdir()
    program = mpi.compile("gather.c")
    report = tmp_path / "report.json"
    settings = {
        "TUTTI_HIERARCHY": "hierarchical",
        "TUTTI_LEARN": "keep",
        "TUTTI_REPORT": str(report),
        "XDG_CONFIG_HOME": "",
        "XDG_CACHE_HOME": "",
        "HOME": str(home),
    }
    native = trace(mpi, tmp_path / "native", program, {"HOME": str(home)}, ())
    tutti = trace(mpi, tmp_path / "tutti", program, settings, (FRONT,))
    places = {"library": LIBRARIES, "home": home, "program": program, "report": report}
    return native, tutti, {name: re.escape(str(place)) for name, place in places.items()}


def test_it_opens_what_is_documented(traced):
    native, tutti, places = traced
    allowed = {re.compile(path.format(**places)): words for path, words in DOCUMENTED.items()}
    text = " ".join(PAGE.split())
    seen = set()
    for path in opened(tutti) - opened(native):
        if OF_THE_MPI.match(path):
            continue
        words = [words for pattern, words in allowed.items() if pattern.fullmatch(path)]
        assert words, f"{path} is not on the page for administrators"
        seen |= set(words)
        assert words[0] in text
    assert {"libtutti.so", "`/proc/PID/fd/N` of ranks", "the file of `TUTTI_REPORT`"} <= seen


def count(calls, name):
    return sum(bool(re.search(rf"\b{name}\(", call)) for call in calls)


def test_it_opens_no_socket_and_starts_no_thread(traced):
    native, tutti, _ = traced
    assert count(tutti, "socket") == count(native, "socket")
    assert count(tutti, "clone3?") == count(native, "clone3?")
    shared = [call for call in tutti if 'memfd_create("tutti"' in call]
    assert shared, "ranks of a node share memory"
    assert not any("/dev/shm/tutti" in call for call in tutti)


def test_it_exports_what_is_documented():
    symbols = subprocess.run(["nm", "-D", "--defined-only", FRONT], capture_output=True, text=True)
    names = {line.split()[-1].split("@")[0] for line in symbols.stdout.splitlines()}
    mpi = {re.sub(r"^P?MPI_|_c$", "", name) for name in names if re.match("P?MPI_", name)}
    others = {"Comm_free", "Comm_disconnect", "Win_free", "Finalize"}
    assert others <= mpi
    counted = {name for name in mpi if re.match("I[a-z]|Neighbor_|.*_init$", name)}
    handled = mpi - others - counted
    assert "It exports [all blocking collectives](generated/collectives.md) but" in " ".join(PAGE.split())
    assert handled == set(re.findall(r"`MPI_(\w+)`", COLLECTIVES))
    assert counted
    large = {name for name in names if re.fullmatch(r"MPI_\w+_c", name)}
    assert large == {f"MPI_{name}_c" for name in handled - {"Barrier"}}
    assert {f"P{name}" for name in names if name.startswith("MPI_")} <= names
    rest = {name for name in names if not re.match("P?MPI_", name)}
    assert rest and all(name.startswith(("TUTTI_", "tutti_")) for name in rest)
