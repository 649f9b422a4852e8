"""tutti run: options of launchers that take a name and a value, which may be that of a program."""

from __future__ import annotations

import pytest
from tutti import launcher
from tutti.console import Refusal
from tutti.launcher import Launcher

OPTIONS = ["--mca plm_rsh_agent sh", "-gmca a sh", "--prtemca plm_ssh_agent sh", "-genv A sh", "-env A sh", "-env A=1",
           "-genv FLAGS -g"]  # fmt: skip


@pytest.mark.parametrize("words", OPTIONS)
def test_the_value_is_no_program(words):
    command = ["mpirun", *words.split(), "-n", "64", "ls", "-l", "sh"]
    assert launcher.options_of(command, Launcher(0, "openmpi")) == [*words.split(), "-n", "64"]
    directly = ["mpirun", *words.split(), "ls", "-l", "sh"]
    assert launcher.options_of(directly, Launcher(0, "openmpi")) == words.split()


@pytest.mark.parametrize("words", OPTIONS)
def test_the_options_behind_it_count(words, tmp_path):
    command = ["mpirun", *words.split(), "-x", "LD_PRELOAD=/x.so", "ls"]
    with pytest.raises(Refusal, match="LD_PRELOAD=/x.so would preload"):
        launcher.pass_on(command, Launcher(0, "openmpi"), {"LD_PRELOAD": "/t.so"}, {})
    (tmp_path / "apps").write_text("-n 1 ./a\n")
    command = ["mpirun", *words.split(), "-H", "a,b", "--app", str(tmp_path / "apps")]
    with pytest.raises(Refusal, match="on each line of the file"):
        launcher.pass_on(command, Launcher(0, "openmpi"), {"TUTTI": "on"}, {})


@pytest.mark.parametrize("words", ["-genv", "-genv A", "--mca a"])
def test_a_missing_value_is_an_error_of_the_launcher(words):
    assert launcher.options_of(["mpirun", *words.split()], Launcher(0, "openmpi")) is None


@pytest.mark.parametrize(
    ("words", "index"),
    [
        ("jsrun -n 4 --env PATH", 0), ("jsrun --env A=1 -n 4", 0), ("flux run -n 4 --env PATH", 1),
        ("flux run -n 4 --env -LD_*", 1),
    ],
)  # fmt: skip
def test_env_with_two_dashes_takes_one_word(words, index):
    command = [*words.split(), "ls", "-x", "LD_PRELOAD=/x.so"]
    found = Launcher(index, "other")
    assert launcher.options_of(command, found) == words.split()[index + 1 :]
    assert launcher.pass_on(command, found, {"LD_PRELOAD": "/t.so"}, {}) == command


@pytest.mark.parametrize("words", ["--map-by seq", "-wdir seq"])
def test_values_of_options_are_no_program(words):
    command = ["mpirun", *words.split(), "-x", "LD_PRELOAD=/x.so", "./a"]
    with pytest.raises(Refusal, match="LD_PRELOAD=/x.so would preload"):
        launcher.pass_on(command, Launcher(0, "openmpi"), {"LD_PRELOAD": "/t.so"}, {})
