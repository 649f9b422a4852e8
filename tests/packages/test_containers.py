"""The recipes of packaging/container make images with the command; scripts here read them."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import VERSION, minutes
from installed import ROOT, run


def context(wheel: Path, folder: Path) -> Path:
    """The folder that `tools/package.sh container` makes, with a wheel that is there already."""
    shutil.copytree(ROOT / "packaging/container", folder)
    shutil.copy(wheel, folder)
    return folder


def copied(root: Path, folder: Path, words: list[str]) -> None:
    """Copies files of a folder, by shell patterns, into a root folder."""
    *patterns, target = words
    place = root / target.lstrip("/")
    for pattern in patterns:
        (found,) = folder.glob(pattern)
        is_folder = target.endswith("/")
        (place if is_folder else place.parent).mkdir(parents=True, exist_ok=True)
        shutil.copy(found, place / found.name if is_folder else place)


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    """What both recipes start from: a small Debian 12, with the registries of this machine."""
    root = tmp_path_factory.mktemp("base") / "root"
    run("mmdebstrap", "--variant=minbase", "--include=ca-certificates", "bookworm", root, limit=300)
    for name in ("etc/resolv.conf", "etc/hosts", "etc/ssl/certs/ca-certificates.crt"):
        if Path("/", name).exists():
            (root / name).unlink(missing_ok=True)
            shutil.copy(Path("/", name), root / name)
    run("cp", "-rL", "/etc/apt/apt.conf.d", root / "etc/apt/", limit=20)
    return root


def within(root: Path, script: str, settings: dict[str, str]) -> str:
    """The output of a shell script in a root folder."""
    path = {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}
    inherited = {name: value for name, value in os.environ.items()
                 if name.startswith("PIP_") or name.lower().endswith("_proxy")}  # fmt: skip
    done = subprocess.run(["chroot", root, "sh", "-ec", script], env=inherited | path | settings,
                          capture_output=True, text=True, timeout=600)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def sections(text: str) -> dict[str, str]:
    """The sections of an Apptainer recipe."""
    parts = re.split(r"^%(\w+)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def checked(root: Path, settings: dict[str, str]) -> None:
    """The image has the command and the library that its environment names, and no compiler."""
    assert VERSION in within(root, "tutti --version", settings)
    within(root, 'test -e "$TUTTI_LIBRARY" && ! command -v cc', settings)
    assert "all right" in within(root, "tutti verify --max-ranks 4 --sampled 0", settings)


@minutes
def test_the_oci_recipe(wheel, base, tmp_path):
    folder, root = context(wheel, tmp_path / "context"), tmp_path / "image"
    run("cp", "-a", base, root)
    settings, command = {}, []
    for line in (folder / "Containerfile").read_text().splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "COPY":
            copied(root, folder, rest.split())
        elif kind == "RUN":
            within(root, rest, settings)
        elif kind == "ENV":
            settings |= dict([rest.split("=", 1)])
        elif kind == "CMD":
            command = json.loads(rest)
        else:
            assert kind in ("#", "") or line.endswith("debian:bookworm-slim"), line
    checked(root, settings)
    assert "Usage: tutti" in within(root, shlex.join(command), settings)


@minutes
def test_the_apptainer_recipe(wheel, base, tmp_path):
    folder, root = context(wheel, tmp_path / "context"), tmp_path / "image"
    run("cp", "-a", base, root)
    parts = sections((folder / "tutti.def").read_text())
    assert set(parts) == {"files", "post", "environment", "runscript", "test"}
    for line in parts["files"].split("\n"):
        if line.strip():
            copied(root, folder, line.split())
    within(root, parts["post"], {})
    settings = dict(re.findall(r"export (\w+)=(\S+)", parts["environment"]))
    checked(root, settings)
    within(root, parts["test"], settings)
    script = f"set -- --version\n{parts['runscript']}"
    assert VERSION in within(root, script, settings)
