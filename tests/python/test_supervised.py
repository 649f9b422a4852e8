"""Child processes of tutti run: exit status and signals."""

from __future__ import annotations

import signal

import pytest
from tutti import supervised
from tutti.refusal import Refusal


@pytest.mark.parametrize(("script", "status"), [("exit 3", 3), ("kill -KILL $$", 137)])
def test_the_exit_status_is_that_of_the_command(script, status):
    outcome = supervised.run(["sh", "-c", script], {})
    assert outcome.status == status and outcome.seconds > 0


@pytest.mark.parametrize("name", ["TERM", "HUP"])
def test_signals_are_passed_on(name):
    before = signal.getsignal(signal.SIGTERM)
    script = f"trap 'exit 9' {name}; kill -{name} $PPID; while :; do sleep 0.02; done"
    assert supervised.run(["sh", "-c", script], {}).status == 9
    assert signal.getsignal(signal.SIGTERM) is before


def test_an_interrupt_ends_the_command_alone():
    script = "kill -INT $PPID; sleep 0.2; exit $WORD"
    assert supervised.run(["sh", "-c", script], {"WORD": "5"}).status == 5


def test_a_command_that_cannot_start_is_named():
    with pytest.raises(Refusal, match="/none/app -x: No such file"):
        supervised.run(["/none/app", "-x"], {})
