"""The folders from which the preloaded library loads its backend."""

from __future__ import annotations

import grp
import os
import pwd
import shutil
import subprocess
import sys

import pytest
from conftest import FRONT, LIBRARIES

GROUPS = {group.gr_name: group.gr_gid for group in grp.getgrall()} if os.geteuid() == 0 else {}
ALIKE = [(user.pw_uid, GROUPS[user.pw_name]) for user in (pwd.getpwall() if GROUPS else ())
         if GROUPS.get(user.pw_name, user.pw_uid) != user.pw_uid]  # fmt: skip
"""Users and groups with the same name but other numbers, such as Debian's man."""
OTHER = "const void* tutti_backend_for(const char* interface) { return interface ? 0 : interface; }"
"""A backend that the front does not fit."""
THIEF = """
#include <stdio.h>
__attribute__((constructor)) static void take(void) { puts("stolen"); }
"""


@pytest.fixture
def installed(mpi, tmp_path):
    """A folder with the preloaded library and the backend for this MPI."""
    folder = tmp_path / "installed"
    folder.mkdir(mode=0o755)
    for library in (FRONT, LIBRARIES / f"libtutti-{mpi.name}.so"):
        shutil.copy(library, folder)
        (folder / library.name).chmod(0o644)
    return folder


def run_moved(mpi, installed, folder):
    """Preloads the library by a relative path in a program that then goes to `folder`."""
    program = mpi.compile("moved.c")
    script = 'cd "$0"; LD_PRELOAD=./libtutti.so exec "$@"'
    settings = {"TUTTI_GATHER": "binomial"}
    return mpi.run("sh", "-c", script, installed, program, folder, preload=(), settings=settings)


def test_is_found_when_the_program_has_moved(mpi, installed):
    outcome = run_moved(mpi, installed, "/")
    assert (outcome.status, outcome.out) == (0, "correct\n"), outcome.err
    assert outcome.algorithms() == {"gather": "binomial"}


def test_is_not_taken_from_where_the_program_has_moved(mpi, installed, tmp_path):
    (tmp_path / "thief.c").write_text(THIEF)
    thief = tmp_path / f"libtutti-{mpi.name}.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", thief, tmp_path / "thief.c"], check=True)
    outcome = run_moved(mpi, installed, tmp_path)
    assert "stolen" not in outcome.out
    assert outcome.status == 0, outcome.err


def run(mpi, installed):
    settings = {"TUTTI_GATHER": "binomial"}
    return mpi.run(
        mpi.compile("moved.c"), "/", preload=[installed / "libtutti.so"], settings=settings
    )


def refused(mpi, installed) -> str:
    """What a run says that ends because of its backend."""
    outcome = run(mpi, installed)
    assert outcome.status != 0
    assert "correct" not in outcome.out
    return outcome.err


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o757])
def test_is_not_taken_from_a_folder_that_others_can_write_to(mpi, installed, mode):
    installed.chmod(mode)
    assert f"{installed}/ has mode {mode:04o}" in refused(mpi, installed)


def test_is_not_taken_if_others_can_write_to_it(mpi, installed):
    backend = installed / f"libtutti-{mpi.name}.so"
    backend.chmod(0o666)
    assert f"{backend} has mode 0666" in refused(mpi, installed)


def test_a_missing_backend_is_named(mpi, installed):
    backend = installed / f"libtutti-{mpi.name}.so"
    backend.unlink()
    assert f"{backend} does not exist" in refused(mpi, installed)


@pytest.mark.parametrize("source", ["int nothing;", OTHER])
def test_a_library_of_another_version_is_no_backend(mpi, installed, tmp_path, source):
    (tmp_path / "other.c").write_text(source)
    backend = installed / f"libtutti-{mpi.name}.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", backend, tmp_path / "other.c"], check=True)
    error = refused(mpi, installed)
    assert f"{backend.name}: not a backend of this version of Tutti" in error


def test_a_backend_refuses_fronts_of_another_version(mpi, installed):
    call = f"""import ctypes
library = ctypes.CDLL("{installed}/libtutti-{mpi.name}.so")
print(library.tutti_backend_for(b"another"))"""
    done = subprocess.run([sys.executable, "-c", call], capture_output=True, text=True, timeout=60)
    assert done.stdout == "0\n", done.stderr


def test_may_lie_where_the_group_of_the_owner_alone_can_write(mpi, installed):
    """The permissions with a umask of 002, if each user has a private group."""
    for path in (installed, *installed.iterdir()):
        path.chmod(path.stat().st_mode | 0o020)
    outcome = run(mpi, installed)
    assert outcome.status == 0, outcome.err


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files away")
@pytest.mark.parametrize(
    ("owner", "group", "mode", "is_taken"),
    [
        (12345, 12345, 0o755, False),  # somebody else
        (0, 54321, 0o775, True),  # whoever root lets
        (0, 54321, 0o757, False),
    ],
)
def test_of_another_owner(mpi, installed, owner, group, mode, is_taken):
    os.chown(installed, owner, group)
    installed.chmod(mode)
    outcome = run(mpi, installed)
    assert (outcome.status == 0) == is_taken, outcome.err
    if not is_taken:
        assert f"owner {owner}" in outcome.err


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files away")
@pytest.mark.parametrize(
    ("owner", "group", "is_taken"),
    [(12345, 12345, True), (12345, 54321, False), (12345, 0, True),
     *((*ids, True) for ids in ALIKE[:1])],
)  # fmt: skip
def test_of_the_owner_of_the_preloaded_library(mpi, installed, owner, group, is_taken):
    """The user preloads another user's installation, to which a group may write: that of the owner,
    of somebody else, or of root.
    """
    for path in (installed, *installed.iterdir()):
        os.chown(path, owner, group)
        path.chmod(path.stat().st_mode | 0o020)
    outcome = run(mpi, installed)
    assert (outcome.status == 0) == is_taken, outcome.err
