"""pip's build backend: scikit-build-core, with a tag for each wheel by what its files need.

A wheel whose files need only glibc, and the MPI that a program brings, is tagged manylinux_2_N for
the highest version 2.N of glibc among its symbols. Any other wheel keeps the tag of this machine.
"""

from __future__ import annotations

import base64
import hashlib
import re
import struct
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scikit_build_core import build as _build
from scikit_build_core.build import (  # noqa: F401
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

FROM_OUTSIDE = re.compile(r"(lib(c|m|dl|rt|pthread)|ld-linux-[\w-]+|libmpi(_abi)?)\.so")
"""What a wheel may leave to the machine: glibc, and the MPI."""

_DYNAMIC, _VERSIONS_NEEDED, _LIBRARY_NEEDED = 6, 0x6FFFFFFE, 1


def build_wheel(
    wheel_directory: str,
    config_settings: Mapping[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Builds a wheel, tags it, and returns its file name."""
    name = _build.build_wheel(wheel_directory, config_settings, metadata_directory)
    return tag(Path(wheel_directory) / name).name


def tag(wheel: Path) -> Path:
    """Renames a wheel by the glibc that its files need; returns its path."""
    with zipfile.ZipFile(wheel) as archive:
        content = {entry: archive.read(entry) for entry in archive.infolist()}
    needs = [need for data in content.values() for need in needs_of(data)]
    others = {library for library, _ in needs if not FROM_OUTSIDE.match(library)} - {
        Path(entry.filename).name for entry in content
    }
    versions = [version for _, version in needs if version]
    if others or not versions:
        return wheel
    platform = f"manylinux_2_{max(versions)}_"
    new = wheel.with_name(wheel.name.replace("-linux_", f"-{platform}"))
    record = ""
    with zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, data in content.items():
            if entry.filename.endswith(".dist-info/RECORD"):
                last = entry
                continue
            if entry.filename.endswith(".dist-info/WHEEL"):
                data = data.replace(b"-linux_", f"-{platform}".encode())
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{entry.filename},sha256={digest},{len(data)}\n"
            archive.writestr(entry, data)
        archive.writestr(last, f"{record}{last.filename},,\n")
    wheel.unlink()
    return new


def needs_of(file: bytes) -> Iterator[tuple[str, int]]:
    """The libraries that an ELF file of 64 bits needs, and N for each symbol version GLIBC_2.N of
    them, else 0; nothing for other files.
    """
    if file[:5] != b"\x7fELF\x02":
        return
    (start,) = struct.unpack_from("<Q", file, 40)
    size, number = struct.unpack_from("<HH", file, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", file, start + i * size) for i in range(number)]

    def text(table: int, at: int) -> str:
        begin = sections[table][4] + at
        return file[begin : file.index(b"\0", begin)].decode()

    for _, kind, _, _, offset, length, link, _, _, _ in sections:
        if kind == _DYNAMIC:
            for entry in range(offset, offset + length, 16):
                tag_of_entry, value = struct.unpack_from("<QQ", file, entry)
                if tag_of_entry == _LIBRARY_NEEDED:
                    yield text(link, value), 0
        if kind == _VERSIONS_NEEDED:
            yield from _versions(file, offset, lambda at, link=link: text(link, at))


def _versions(file: bytes, offset: int, text: Any) -> Iterator[tuple[str, int]]:
    while True:
        _, count, library, first, step = struct.unpack_from("<HHIII", file, offset)
        at = offset + first
        for _ in range(count):
            _, _, _, name, next_one = struct.unpack_from("<IHHII", file, at)
            version = re.fullmatch(r"GLIBC_2\.(\d+)(\.\d+)?", text(name))
            yield text(library), int(version[1]) if version else 0
            at += next_one
        if step == 0:
            return
        offset += step
