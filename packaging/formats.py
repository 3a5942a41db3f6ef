"""The same files as an archive, as a package of Debian and as a wheel of Python."""

import base64
import gzip
import hashlib
import io
import os
import platform
import subprocess
import tarfile
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path

from tree import ROOT, File, version

MACHINE = platform.machine()
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
CONTROL = """\
Package: wastenot
Version: {version}
Architecture: {machine}
Maintainer: The Wastenot authors <wastenot@localhost>
Installed-Size: {size}
Suggests: z3, cvc5
Section: devel
Priority: optional
Description: workbench for CPU schedulers
 Records what the scheduler of Linux does, or reads such recordings, and reports
 how much CPU time was wasted: CPUs were idle while tasks waited elsewhere. It
 also simulates schedulers, proves policies and checks deadlines.
"""


def archive(files: list[File], folder: Path, when: int) -> Path:
    """All files below one folder: `tar -xzf FILE -C /usr/local --strip-components=1` installs them."""
    name = f"wastenot-{version()}-{MACHINE}-linux"
    path = folder / f"{name}.tar.gz"
    with (path.open("wb") as raw,
          gzip.GzipFile("", "wb", fileobj=raw, mtime=when) as packed,
          tarfile.open(fileobj=packed, mode="w") as tar):
        for file in files:
            entry = tarfile.TarInfo(f"{name}/{file.path}")
            entry.size, entry.mode, entry.mtime = len(file.content), file.mode, when
            tar.addfile(entry, io.BytesIO(file.content))
    return path


def debian(files: list[File], folder: Path, when: int) -> Path:
    """A package for apt and dpkg."""
    machine = DEBIAN[MACHINE]
    path = folder / f"wastenot_{version()}_{machine}.deb"
    files = [at_debian(file) for file in files]
    size = sum(len(file.content) for file in files) // 1024
    sums = "".join(f"{hashlib.md5(file.content).hexdigest()}  {file.path}\n" for file in files)
    control = CONTROL.format(version=version(), machine=machine, size=size)
    files = [*files, File("DEBIAN/control", 0o644, control.encode()),
             File("DEBIAN/md5sums", 0o644, sums.encode())]
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        root.chmod(0o755)
        for file in files:
            target = root / file.path
            for parent in reversed(target.relative_to(root).parents[:-1]):
                (root / parent).mkdir(mode=0o755, exist_ok=True)
                (root / parent).chmod(0o755)
            target.write_bytes(file.content)
            target.chmod(file.mode)
        subprocess.run(["dpkg-deb", "--root-owner-group", "--build", root, path], check=True,
                       stdout=subprocess.DEVNULL, env={**os.environ, "SOURCE_DATE_EPOCH": str(when)})
    return path


def at_debian(file: File) -> File:
    """A file as Debian's policy wants it: where zsh looks, and with packed man pages."""
    path = file.path.replace("zsh/site-functions", "zsh/vendor-completions")
    if path.startswith("share/man/"):
        return File(f"usr/{path}.gz", file.mode, gzip.compress(file.content, mtime=0))
    return File(f"usr/{path}", file.mode, file.content)


def wheel(files: list[File], folder: Path, when: int) -> Path:
    """A wheel for pip and uv: the modules in python/, and the files where the environment keeps such."""
    project = tomllib.loads((ROOT / "python/pyproject.toml").read_text(encoding="utf-8"))["project"]
    name = f"wastenot-{version()}"
    # The program is static: it runs with any C library.
    tags = [f"py3-none-{system}_{MACHINE}" for system in ("manylinux_2_17", "manylinux2014", "musllinux_1_1")]
    told = [("Wheel-Version", "1.0"), ("Generator", "wastenot"), ("Root-Is-Purelib", "false")]
    module = ROOT / "python/wastenot"
    inside = [File(f"wastenot/{it.name}", 0o644, it.read_bytes())
              for it in sorted(module.iterdir()) if it.suffix == ".py" or it.name == "py.typed"]
    inside += [in_environment(file, f"{name}.data") for file in files]
    inside += [File(f"{name}.dist-info/METADATA", 0o644, fields(metadata(project))),
               File(f"{name}.dist-info/WHEEL", 0o644, fields(told + [("Tag", tag) for tag in tags])),
               File(f"{name}.dist-info/licenses/copyright", 0o644, files[-1].content)]
    record = f"{name}.dist-info/RECORD"
    rows = "".join(f"{file.path},sha256={digest(file.content)},{len(file.content)}\n" for file in inside)
    inside.append(File(record, 0o644, f"{rows}{record},,\n".encode()))
    systems = ".".join(tag.removeprefix("py3-none-") for tag in tags)
    path = folder / f"{name}-py3-none-{systems}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in inside:
            entry = zipfile.ZipInfo(file.path, time.gmtime(when)[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | file.mode) << 16
            packed.writestr(entry, file.content)
    return path


def in_environment(file: File, data: str) -> File:
    """A file of a wheel: a program beside `python`, everything else below the environment."""
    if file.path.startswith("bin/"):
        return File(f"{data}/scripts/{file.path.removeprefix('bin/')}", file.mode, file.content)
    return File(f"{data}/data/{file.path}", file.mode, file.content)


def metadata(project: dict) -> list[tuple[str, str]]:
    """What pip is told, from python/pyproject.toml."""
    extras = project.get("optional-dependencies", {})
    return [("Metadata-Version", "2.4"), ("Name", project["name"]), ("Version", project["version"]),
            ("Summary", project["description"]), ("License-Expression", project["license"]),
            ("License-File", "copyright"), ("Requires-Python", project["requires-python"]),
            *(("Requires-Dist", it) for it in project["dependencies"]),
            *(("Provides-Extra", extra) for extra in extras),
            *(("Requires-Dist", f"{it}; extra == '{extra}'") for extra, all_ in extras.items() for it in all_)]


def fields(pairs: list[tuple[str, str]]) -> bytes:
    """Lines as mail has them."""
    return "".join(f"{key}: {value}\n" for key, value in pairs).encode()


def digest(content: bytes) -> str:
    """A hash as wheels write it."""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
