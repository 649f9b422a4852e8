"""./test and ./demo end all that they run when they are ended."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import pytest
from installed import ROOT

RUNNERS = {
    "test": ("# part NAME", "\nn() {", "part slow 60 job"),
    "demo": ("# One line that", "# The MPI that is there", "step slow job"),
    "tools/prepare.sh": ("", "", "step slow job"),
}
"""By script: where the function that runs a command begins and ends, and a call of it."""


def runner(script: str) -> str:
    """What a shell executes until a command runs that the script has started."""
    first, last, call = RUNNERS[script]
    text = (ROOT / script).read_text()
    own = text[text.index(first) : text.index(last)]
    return f"source {ROOT}/tools/prepare.sh\n{own}\nexport -f job\n{call}"


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("script", RUNNERS)
def test_a_signal_to_end_ends_what_runs(tmp_path, script, number):
    read, write = os.pipe()
    code = f"job() {{ echo started >&{write}; sleep 20; }}\n{runner(script)}\necho next >&{write}"
    words = ["env", "--default-signal=HUP,INT,TERM", "bash", "-c", code]
    ended = subprocess.Popen(words, pass_fds=[write], stdout=subprocess.DEVNULL, cwd=tmp_path)
    os.close(write)
    began = time.monotonic()
    with os.fdopen(read) as said:
        assert said.readline() == "started\n"
        ended.send_signal(number)
        assert said.read() == "", "the pipe is open as long as a process runs"
    assert ended.wait() == 128 + number and time.monotonic() - began < 15
