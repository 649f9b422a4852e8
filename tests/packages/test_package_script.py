"""tools/package.sh, and what recipes do before they build."""

from __future__ import annotations

import subprocess

import pytest
from installed import ROOT, run

PACKAGING = ROOT / "packaging"


@pytest.mark.parametrize("url", ["https://host/a?b=1&c=2|d.tar.gz", "file:///a&b/tutti.tar.gz"])
def test_recipes_have_the_address_of_the_archive_literally(tmp_path, url):
    run(ROOT / "tools/package.sh", "spack", TUTTI_PACKAGES=str(tmp_path), TUTTI_ARCHIVE_URL=url)
    recipe = (tmp_path / "spack_repo/tutti/packages/tutti/package.py").read_text()
    assert f'    url = "{url}"\n' in recipe


def test_a_wheel_that_the_images_cannot_install_is_not_built(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 3.13\n")
    python.chmod(0o755)
    kept = tmp_path / "tutti-0-any.whl"
    kept.touch()
    with pytest.raises(AssertionError, match=r"PYTHON=\S+ is Python 3.13; expected 3.11"):
        run(ROOT / "tools/package.sh", "container", TUTTI_PACKAGES=str(tmp_path), PYTHON=str(python))
    assert kept.exists()


def test_the_folder_of_the_container_has_one_wheel(tmp_path):
    python = tmp_path / "python"
    wheel = tmp_path / "tutti-2-any.whl"
    python.write_text(f'#!/bin/sh\ncase $1 in -c) echo 3.11 ;; *) touch "{wheel}" ;; esac\n')
    python.chmod(0o755)
    (tmp_path / "tutti-1-any.whl").touch()
    run(ROOT / "tools/package.sh", "container", TUTTI_PACKAGES=str(tmp_path), PYTHON=str(python))
    assert list(tmp_path.glob("*.whl")) == [wheel]
    assert (tmp_path / "Containerfile").is_file()


@pytest.mark.parametrize("wheels", [[], ["a.whl", "b.whl"]])
def test_an_image_takes_one_wheel(wheels):
    done = subprocess.run(["/bin/sh", PACKAGING / "container/install.sh", *wheels], env={"PATH": "/none"},
                          capture_output=True, text=True, timeout=20)  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == f"install.sh: {len(wheels)} wheels ({' '.join(wheels)}); expected one\n"


def test_the_debian_package_needs_the_python_that_it_was_built_for(tmp_path):
    (tmp_path / "debian").mkdir()
    for _ in range(2):  # as a package may be built again in the same folder
        run("make", "-f", PACKAGING / "debian/rules", "execute_before_dh_gencontrol", cwd=tmp_path)
    text = "import sys; print('%d.%d %d' % (*sys.version_info[:2], sys.version_info[1] + 1))"
    version, following = run("/usr/bin/python3", "-c", text).split()
    assert (tmp_path / "debian/tutti.substvars").read_text() == (
        f"python3:Depends=python3 (>= {version}~), python3 (<< 3.{following})\n"
    )
    assert "${python3:Depends}" in (PACKAGING / "debian/control").read_text()
