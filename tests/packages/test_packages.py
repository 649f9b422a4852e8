"""The packages of packaging/, without the containers, are built as their recipes say; a program runs under each.

Where the tool that reads a recipe is not to be had, a script here does what the recipe says. With
ALL_TESTS in the environment everything is built; otherwise only what takes seconds is tested.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import runpy
import shutil
import sys
import types
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import SAME, VERSION, minutes
from installed import BUILD, ROOT, cached, mpis, run

LMOD = "/usr/share/lmod/lmod/libexec/lmod"


@pytest.fixture(scope="session")
def packages():
    """A function that makes a package and returns the folder with it.

    The folder is the same in each run: ccache knows objects by the paths of their sources.
    """
    folder = ROOT / "build" / "test-packages"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)

    def make(kind: str, *arguments, limit=60, **settings: str) -> Path:
        run(ROOT / "tools/package.sh", kind, *arguments, limit=limit,
            TUTTI_PACKAGES=str(folder), PYTHON=sys.executable, **settings)  # fmt: skip
        return folder

    return make


@pytest.fixture
def source(packages, tmp_path) -> Path:
    """The unpacked archive of the source."""
    run("tar", "-xzf", packages("archive") / f"tutti-{VERSION}.tar.gz", "-C", tmp_path)
    return tmp_path / f"tutti-{VERSION}"


def runs_under(library: Path, mpi, report: Path, **settings: str) -> dict[str, str]:
    """Runs a program under a library; returns the reason for the algorithm of each collective."""
    particles = [BUILD / "bin" / f"particles-{mpi}", "-n", 100, "-s", 4]
    run(mpi.mpirun, "-n", 2, "env", f"LD_PRELOAD={library}", f"TUTTI_REPORT={report}", *particles,
        "-o", report.with_suffix(".bin"), **settings)  # fmt: skip
    calls = json.loads(report.read_text())["calls"]
    return {call["collective"]: f"{call['algorithm']}: {call['reason']}" for call in calls}


def ordered_tree(report: dict[str, str]) -> bool:
    return report["gatherv"].startswith("ordered_tree: ")


# Modulefiles


@pytest.fixture(scope="module")
def prefix(tmp_path_factory) -> Path:
    """An installation with rules of the site, which moved after it was installed."""
    folder = tmp_path_factory.mktemp("site")
    run("cmake", "--install", BUILD, "--prefix", folder / "before")
    (folder / "before").rename(folder / "after")
    rules = folder / "after/share/tutti/rules.json"
    rules.parent.mkdir(parents=True, exist_ok=True)
    rule = {"collective": "gatherv", "use": "ordered_tree", "evidence": {}}
    rules.write_text(json.dumps({"schema": "tutti-rules-1", "rules": [rule]}))
    return folder / "after"


@pytest.fixture(scope="module")
def modulecmd(tmp_path_factory) -> str:
    """The command of Environment Modules, whose package cannot be installed beside that of Lmod."""
    folder = tmp_path_factory.mktemp("modules")
    run("apt-get", "download", "environment-modules", cwd=folder)
    run("dpkg", "-x", *folder.glob("*.deb"), folder)
    (script,) = folder.glob("usr/lib/*/modulecmd.tcl")
    return f"tclsh {script}"


@pytest.mark.parametrize("tool", ["lmod", "tcl"])
def test_the_modulefile_leads_to_a_library_with_the_rules_of_its_site(
    tool, prefix, request, tmp_path
):
    module = LMOD if tool == "lmod" else request.getfixturevalue("modulecmd")
    script = f"""set -e
        eval "$({module} bash load tutti)"
        echo "$TUTTI_LIBRARY"
        command -v tutti-bench
        pkg-config --modversion tutti-{mpis()[0]}
        eval "$({module} bash unload tutti)"
        echo "${{TUTTI_LIBRARY:-unset}}" """
    modules = str(prefix / "share/modulefiles")
    # Lmod finds a spider cache of the user's otherwise.
    told = run("bash", "-c", script, MODULEPATH=modules, HOME=str(tmp_path), LMOD_IGNORE_CACHE="1",
               MODULES_CMD=modules)  # fmt: skip
    library, bench, version, after = told.split()
    assert Path(library).samefile(prefix / "lib/libtutti.so")
    assert Path(bench).samefile(prefix / "bin/tutti-bench")
    assert (version, after) == (VERSION, "unset")
    for mpi in mpis():
        report = runs_under(library, mpi, tmp_path / f"{mpi}.json", HOME=str(tmp_path))
        assert ordered_tree(report) and "rules.json" in report["gatherv"], report


@pytest.mark.parametrize("tool", ["lmod", "tcl"])
def test_one_more_line_switches_tutti_on_for_what_starts_after(tool, prefix, request, tmp_path):
    """The line of the page on deploying, in a module of its own beside the installed one."""
    module = LMOD if tool == "lmod" else request.getfixturevalue("modulecmd")
    page = (ROOT / "docs/deploy.md").read_text()
    (line,) = re.findall(r"^prepend-path LD_PRELOAD .*$", page, re.MULTILINE)
    modules = prefix / "share/modulefiles"
    (modules / "switch").mkdir(exist_ok=True)
    installed = (modules / "tutti" / VERSION).read_text()
    (modules / "switch" / VERSION).write_text(f"{installed}{line}\n")
    script = f"""set -e
        unset LD_PRELOAD
        eval "$({module} bash load switch)"
        echo "$LD_PRELOAD"
        eval "$({module} bash unload switch)"
        echo "${{LD_PRELOAD:-unset}}" """
    told = run("bash", "-c", script, MODULEPATH=str(modules), HOME=str(tmp_path),
               LMOD_IGNORE_CACHE="1", MODULES_CMD=str(modules))  # fmt: skip
    library, after = told.split()
    assert Path(library).samefile(prefix / "lib/libtutti.so")
    assert after == "unset"


# Spack


class CMakePackage:
    """What a recipe inherits."""

    variants: dict[str, bool]

    def define(self, name: str, value) -> str:
        return f"-D{name}={str(value).upper() if isinstance(value, bool) else value}"

    def define_from_variant(self, name: str, variant: str) -> str:
        return self.define(name, self.variants[variant])


class Recipe:
    """What a recipe for Spack says, as Spack would read it."""

    def __init__(self, file: Path) -> None:
        self.said: list[tuple[str, str, dict]] = []
        systems = "spack_repo.builtin.build_systems"
        names = ("spack", "spack.package", "spack_repo", "spack_repo.builtin", systems,
                 f"{systems}.cmake")  # fmt: skip
        modules = {name: types.ModuleType(name) for name in names}
        package, cmake = modules["spack.package"], modules[names[-1]]
        for name in ("license", "version", "variant", "depends_on", "conflicts"):
            setattr(package, name, self.directive(name))
        package.when = contextmanager(lambda condition: iter([None]))
        package.join_path = os.path.join
        cmake.generator = self.directive("generator")
        cmake.CMakePackage = CMakePackage
        before = {name: sys.modules.get(name) for name in modules}
        sys.modules.update(modules)
        try:
            self.package = runpy.run_path(str(file))["Tutti"]
        finally:
            for name, module in before.items():
                sys.modules.pop(name) if module is None else sys.modules.update({name: module})

    def directive(self, kind: str):
        return lambda *words, **options: self.said.append((kind, words[0], options))

    def all(self, kind: str) -> dict[str, dict]:
        return {word: options for name, word, options in self.said if name == kind}


class Spec:
    """A Spack specification of a package with one MPI."""

    def __init__(self, mpi) -> None:
        self.mpi = mpi

    def satisfies(self, text: str) -> bool:
        return text == f"^[virtuals=mpi] {self.mpi}"

    def __getitem__(self, name: str):
        assert name == "mpi"
        return self.mpi


def test_the_recipe_for_spack_names_the_archive(packages):
    folder = packages("spack")
    recipe = Recipe(folder / "spack_repo/tutti/packages/tutti/package.py")
    (version,) = recipe.all("version").items()
    archive = folder / f"tutti-{VERSION}.tar.gz"
    assert version[0] == VERSION
    assert version[1]["sha256"] == run("sha256sum", archive).split()[0]
    assert recipe.package.url == f"file://{archive}"
    required = {name.split("@")[0] for name in recipe.all("depends_on")}
    assert {"cmake", "mpi", "fmt", "py-nanobind", "py-typer"} <= required


@minutes
@pytest.mark.parametrize("mpi", mpis(), ids=str)
def test_the_recipe_for_spack_builds(mpi, packages, source, tmp_path):
    recipe = Recipe(packages("spack") / "spack_repo/tutti/packages/tutti/package.py")
    package = recipe.package()
    package.spec = Spec(mpi)
    package.variants = {name: said["default"] for name, said in recipe.all("variant").items()}
    prefix = tmp_path / "prefix"
    same = [f"-D{name}={cached(name)}" for name in (*SAME, "CMAKE_CXX_COMPILER")]
    build = source / "build/all"
    settings = {"CCACHE_BASEDIR": str(source), "CCACHE_NOHASHDIR": "1"}
    run("cmake", "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_INSTALL_PREFIX={prefix}",
        f"-DPython_EXECUTABLE={sys.executable}", *package.cmake_args(), *same,
        **settings)  # fmt: skip
    run("cmake", "--build", build, "--target", "install", limit=1200, **settings)
    environment = {}
    package.prefix = types.SimpleNamespace(lib=prefix / "lib")
    package.setup_run_environment(types.SimpleNamespace(set=environment.__setitem__))
    report = runs_under(environment["TUTTI_LIBRARY"], mpi, tmp_path / "r.json",
                        TUTTI_GATHERV="ordered_tree")  # fmt: skip
    assert ordered_tree(report)
    assert VERSION in run(prefix / "bin/tutti", "--version")


# EasyBuild


@pytest.fixture(scope="module")
def easybuild(tmp_path_factory):
    """A function that runs `eb`."""
    folder = tmp_path_factory.mktemp("easybuild")
    run(sys.executable, "-m", "venv", folder / "tool")
    run(folder / "tool/bin/pip", "install", "--quiet", "easybuild-framework==5.4.1",
        "easybuild-easyblocks==5.4.1", limit=300)  # fmt: skip
    path = f"{folder / 'tool/bin'}:{os.environ['PATH']}"

    def eb(*words, limit=60) -> str:
        return run("eb", "--allow-use-as-root-and-accept-consequences", "--modules-tool=Lmod",
                   f"--prefix={folder}", f"--tmp-logdir={folder}", *words, limit=limit, PATH=path,
                   LMOD_CMD=LMOD, HOME=str(folder))  # fmt: skip

    eb.folder = folder
    return eb


@minutes
def test_easybuild_builds_and_its_module_loads(easybuild, packages, tmp_path):
    """With this machine's compiler, CMake and MPI in place of those that the easyconfig names."""
    file = packages("easybuild") / f"tutti-{VERSION}-gompi-2023b.eb"
    toolchain = "toolchain = {'name': 'gompi', 'version': '2023b'}"
    text = file.read_text()
    assert toolchain in text
    here = tmp_path / f"tutti-{VERSION}.eb"
    here.write_text(text.replace(toolchain, "toolchain = SYSTEM"))
    easybuild(here, f"--sourcepath={file.parent}",
              "--filter-deps=CMake,Ninja,fmt", limit=1500)  # fmt: skip
    script = f'eval "$({LMOD} bash load tutti)"; echo "$TUTTI_LIBRARY"'
    library = run("bash", "-c", script, HOME=str(tmp_path), LMOD_IGNORE_CACHE="1",
                  MODULEPATH=str(easybuild.folder / "modules/all")).strip()  # fmt: skip
    (mpi,) = [mpi for mpi in mpis() if mpi.flavour == "openmpi"]
    assert ordered_tree(runs_under(library, mpi, tmp_path / "r.json", TUTTI_GATHERV="ordered_tree"))


# Debian


@minutes
def test_the_debian_packages(packages, tmp_path):
    # Debian 12 has no nanobind: that of this environment serves. -d: build it all the same.
    (nanobind,) = importlib.util.find_spec("nanobind").submodule_search_locations
    (tmp_path / "nanobind").symlink_to(nanobind)
    folder = packages("debian", "-d", limit=1500, PYTHONPATH=str(tmp_path))
    root = tmp_path / "root"
    for name in ("libtutti", "libtutti-dev", "tutti-bench", "tutti"):
        (package,) = folder.glob(f"{name}_{VERSION}_*.deb")
        run("dpkg", "-x", package, root)
    requires = run("dpkg", "-f", next(folder.glob("tutti-bench_*.deb")), "Depends")
    assert "libmpich12" in requires and "libopenmpi3" in requires
    assert not list(root.rglob("*simgrid*.so")), "what the machine has is no dependency"
    libraries = next(root.glob("usr/lib/*/libtutti.so")).parent
    for mpi in mpis():
        report = runs_under(libraries / "libtutti.so", mpi, tmp_path / f"{mpi}.json",
                            TUTTI_GATHERV="ordered_tree")  # fmt: skip
        assert ordered_tree(report)
    told = run(mpis()[0].mpirun, "-n", 2, root / "usr/bin/tutti-bench", "gather", "--block", 1,
               "--repetitions", 2)  # fmt: skip
    assert "# gather, same" in told
    assert list(root.glob("usr/lib/python3/dist-packages/tutti/_engine*.so"))


# One version


def test_nothing_else_states_the_version():
    """The version is in CMakeLists.txt; what is released beside it must be the same."""
    assert f"version: {VERSION}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## [{VERSION}]" in (ROOT / "CHANGELOG.md").read_text()
    stated = re.compile(rf"(?<![0-9.]){re.escape(VERSION)}(?![0-9.])")
    for file in [ROOT / "pyproject.toml", *(ROOT / "packaging").rglob("*")]:
        if file.is_file():
            assert not stated.search(file.read_text()), f"{file} states the version"


@minutes
def test_the_commands_for_a_clone_install_the_command(source):
    """Those of the page on installing, in an empty environment."""
    text = (source / "docs" / "install.md").read_text()
    commands = re.search(r"```\n(python3 -m venv .*?)```", text, re.DOTALL)[1]
    run("bash", "-ec", commands, cwd=source, limit=1800)
    assert "backend openmpi" in run(source / ".venv" / "bin" / "tutti", "doctor", cwd=source)
