"""./test and ./demo end all that they run when they are ended."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import pytest
from installed import ROOT

RUNNERS = {
    "test": ("# The number before", "\nn() {", "part slow 60 job"),
    "demo": ("# One line that", "# The MPI that is there", "step slow job"),
}
"""By script: where the function that runs a command begins and ends, and a call of it."""


@pytest.mark.parametrize("script", RUNNERS)
def test_a_signal_to_end_ends_what_runs(tmp_path, script):
    first, last, call = RUNNERS[script]
    text = (ROOT / script).read_text()
    read, write = os.pipe()
    code = f"""set -u -o pipefail
logs={tmp_path}
{text[text.index(first):text.index(last)]}
job() {{ echo started >&{write}; sleep 20; }}
export -f job
{call}
echo next >&{write}"""
    ended = subprocess.Popen(["bash", "-c", code], pass_fds=[write], stdout=subprocess.DEVNULL)
    os.close(write)
    began = time.monotonic()
    with os.fdopen(read) as said:
        assert said.readline() == "started\n"
        ended.send_signal(signal.SIGTERM)
        assert said.read() == "", "the pipe is open as long as a process runs"
    assert ended.wait() == 130 and time.monotonic() - began < 15
