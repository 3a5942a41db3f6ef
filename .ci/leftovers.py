"""Finds what a run of the tests left on the machine: files, tracing, BPF, cgroups, processes.

`Machine()` looks at the machine, `left(before)` lists what exists now and did not exist before. Files in
/tmp and HOME count only under `.ci/apart`, where both were empty; elsewhere other programs write there, too.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

# Each process that a step starts inherits this variable, even if it changes its session or parent.
MARK = "WASTENOT_TESTS"
# Folders that the kernel provides: tracing's settings, pinned BPF objects, control groups.
TRACING = [Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing")]
PINS = Path("/sys/fs/bpf")
CGROUPS = Path("/sys/fs/cgroup")
# A process may need this long to end after a signal.
PATIENCE_S = 10


def mark() -> dict[str, str]:
    """The variables that are added to the environment of each step."""
    return {MARK: str(os.getpid())}


class Machine:
    """The state of the machine at one time, as (where, what) pairs."""

    def __init__(self) -> None:
        self.there = set(files()) | set(tracing()) | set(below("bpffs", PINS)) | set(cgroups())

    def left(self, patience_s: float = PATIENCE_S) -> list[str]:
        """What exists now and did not at this time, one line each."""
        end = time.monotonic() + patience_s
        while (running := set(processes())) and time.monotonic() < end:
            time.sleep(0.2)
        return sorted(f"{where}: {what}" for where, what in (Machine().there - self.there) | running)


def files() -> Iterator[tuple[str, str]]:
    """The files in /tmp and HOME, if both were empty."""
    if "WASTENOT_APART" not in os.environ:
        return
    kept = [Path(folder) for folder in os.environ["WASTENOT_APART"].split(":")]

    def inside(folder: Path) -> Iterator[tuple[str, str]]:
        for path in folder.iterdir():
            if path in kept:
                continue
            if path.is_dir() and not path.is_symlink() and any(path in k.parents for k in kept):
                yield from inside(path)
            else:
                yield "files", str(path)

    for folder in (Path("/tmp"), Path.home()):
        if folder not in kept:
            yield from inside(folder)


def tracing() -> Iterator[tuple[str, str]]:
    """Instances of ftrace, and events that are enabled."""
    for root in TRACING:
        try:
            yield from (("tracefs", str(instance)) for instance in (root / "instances").iterdir())
            yield from (("tracefs", line) for line in (root / "set_event").read_text().split())
        except OSError:
            continue
        return


def below(where: str, folder: Path) -> Iterator[tuple[str, str]]:
    """All paths below a folder; none if it cannot be read."""
    for parent, folders, names in os.walk(folder):
        yield from ((where, os.path.join(parent, name)) for name in folders + names)


def cgroups() -> Iterator[tuple[str, str]]:
    """Control groups of either version that our tests make; service managers make others at any time."""
    for parent, folders, _ in os.walk(CGROUPS):
        yield from (("cgroup", os.path.join(parent, name)) for name in folders if name.startswith("wastenot"))


def processes() -> Iterator[tuple[str, str]]:
    """Processes that a step of this run started."""
    own = f"{MARK}={os.getpid()}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if own in (folder / "environ").read_bytes().split(b"\0"):
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if line:  # a zombie has none, and only waits for its parent
                    yield "process", f"{folder.name} {line.strip()}"
        except OSError:
            continue
