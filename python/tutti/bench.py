"""Runs tutti-bench and reads its results."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tutti import launcher, libraries, supervised
from tutti.console import Refusal, why_not_writable, write
from tutti.shared_folder import shared_folder

SCHEMA = "tutti-bench/1"


class RunFailed(Refusal):
    """A run of tutti-bench that ended with an error."""


_NEEDS_RANKS = 'a measurement needs 2 or more, as in "mpirun -n 8"'


def command_of(
    mpirun: str, arguments: Sequence[str], settings: Mapping[str, str] | None = None
) -> list[str]:
    """The command that runs tutti-bench under a launcher such as "mpirun -n 8".

    Raises:
        Refusal: tutti-bench or the launcher is not installed, or there is no launcher.
    """
    try:
        words = shlex.split(mpirun)
    except ValueError as error:
        reason = str(error).lower()
        raise Refusal(f"--mpirun {mpirun}: {reason}; expected a command as in a shell") from None
    folder = libraries.programs()
    if folder is None:
        raise Refusal(libraries.NO_BENCH)
    if not words and "--help" not in arguments:
        raise Refusal('missing --mpirun COMMAND, such as --mpirun "mpirun -n 8"; a single rank '
                      "measures no collective")  # fmt: skip
    if words and shutil.which(words[0]) is None:
        raise Refusal(f"--mpirun {mpirun}: no program {words[0]} on PATH")
    command = [*words, str(folder / "tutti-bench"), *arguments]
    variables = launcher.ours({**os.environ, **(settings or {})})
    return launcher.pass_on(command, launcher.find(command), variables, os.environ)


def measure(
    mpirun: str,
    arguments: Sequence[str],
    *,
    quiet: bool = True,
    settings: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Runs tutti-bench, with further settings in its environment, and returns its JSON.

    If the arguments name a file for it (--json FILE), the results are also there; after a failure a former
    file is as it was.

    Raises:
        Refusal: tutti-bench cannot be started, fails, had a single rank, or writes another format.
    """
    own = _json_file(arguments)
    # A pipe takes text, though no file can be made of it.
    if own is not None and not own.is_fifo() and (reason := why_not_writable(own)):
        raise Refusal(f"--json {own}: {reason}")
    with shared_folder() as folder:
        path = folder / "bench.json"
        words = [*arguments, "--json", str(path), *(["--quiet"] if quiet else [])]
        run(mpirun, words, settings or {})
        if not path.is_file():
            raise nothing_started(mpirun)
        result = read(path)
        _refuse_one_rank(result["metadata"])
        if own is not None:
            write(own, path.read_text(encoding="utf-8"), "--json")
        return result


def _json_file(arguments: Sequence[str]) -> Path | None:
    """The FILE of --json FILE or --json=FILE in arguments of tutti-bench: the last one, as there."""
    found = ""
    for word, after in zip(arguments, [*arguments[1:], ""], strict=True):
        option, separator, attached = word.partition("=")
        if option == "--json":
            found = attached if separator else after
    return Path(found) if found else None


def nothing_started(mpirun: str) -> Refusal:
    """The error where a launcher has ended well, and tutti-bench wrote nothing."""
    return Refusal(f"--mpirun {mpirun}: the launcher started no tutti-bench")


def _refuse_one_rank(job: Mapping[str, str]) -> None:
    if int(job["ranks"]) < 2:
        raise Refusal(
            f"--mpirun starts 1 rank of {job['library']}; {_NEEDS_RANKS}. If the launcher was to "
            "start more, it belongs to another MPI than tutti-bench: set TUTTI_BENCH_MPI, or for "
            'srun --mpi, such as "srun --mpi=pmi2"'
        )


def run(mpirun: str, arguments: Sequence[str], settings: Mapping[str, str]) -> None:
    """Runs tutti-bench under a launcher, with further settings in its environment.

    Raises:
        KeyboardInterrupt: an interrupt or a signal to end came, which the launcher has had too.
        RunFailed: the command fails.
        Refusal: as command_of, or the command cannot be started.
    """
    outcome = supervised.run(command_of(mpirun, arguments, settings), settings)
    if outcome.interrupted:
        raise KeyboardInterrupt
    if outcome.status != 0:
        raise RunFailed(f"tutti-bench {arguments[0]} .. under {mpirun}: exit status {outcome.status}")


def read(path: Path, *expected: str) -> dict[str, Any]:
    """The results in a file of `tutti-bench --json`, or of one of the `expected` schemas. Raises Refusal
    if the file has another format."""
    expected = expected or (SCHEMA,)
    try:
        result: dict[str, Any] = json.loads(path.read_text())
    except OSError as error:
        raise Refusal(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise Refusal(f"{path}: not JSON: {error}") from None
    schema = result.get("schema") if isinstance(result, dict) else None
    if schema not in expected:
        raise Refusal(f"{path}: invalid schema {schema}; expected {' or '.join(expected)}")
    return result
