"""What a node does: one shard of a sweep, by the program that is installed there.

This module travels to the nodes as it is, so that they need Ray and the program, and nothing
else of this package. It imports nothing of the package for that reason.
"""

import ctypes
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

PR_SET_PDEATHSIG = 1

# By path, size and time of change: to read a program takes longer than some shards do.
_digests: dict[tuple[str, int, int], str] = {}


@dataclass(frozen=True)
class Work:
    """A sweep on its way to the nodes."""

    program: str
    """As typed: a name that is looked up on PATH, or a path."""
    digest: str
    """That of the program whose results these shall be."""
    files: dict[str, bytes]
    """The experiment and the tables that it names, by their paths from a folder of their own."""
    experiment: str
    """Which of them is the experiment."""
    known: bytes
    """What was worked out before: it is not worked out again."""


def digest(program: str) -> str:
    """SHA-256 of a program: other builds may judge otherwise."""
    status = Path(program).stat()
    key = (program, status.st_size, status.st_mtime_ns)
    if key not in _digests:
        with Path(program).open("rb") as file:
            _digests[key] = hashlib.file_digest(file, "sha256").hexdigest()
    return _digests[key]


def work_out(work: Work, index: int, of: int) -> bytes | tuple[str, str]:
    """Works out a shard, counted from 0: its rows, or what is wrong and what to do."""
    node = socket.gethostname()
    program = shutil.which(work.program)
    if program is None:
        return (
            f"node {node} has no program `{work.program}`",
            "install it there, on the PATH of `ray start`, or give its path with `--program PATH`",
        )
    if digest(program) != work.digest:
        return (
            f"node {node} has another build of wastenot ({program}) than this machine: "
            "results of two builds must not be mixed",
            "install the same program on all nodes",
        )
    with tempfile.TemporaryDirectory(prefix="wastenot-") as folder:
        return _run(program, work, Path(folder), f"{index + 1}/{of}")


def _run(program: str, work: Work, folder: Path, shard: str) -> bytes | tuple[str, str]:
    for name, content in work.files.items():
        path = folder / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    results = folder / "results"
    results.write_bytes(work.known)
    experiment = folder / "files" / work.experiment
    words = ["bounds", "sweep", str(experiment), "--resume", str(results), "--shard", shard]
    done = subprocess.run(
        [program, *words],
        env={**os.environ, "RAYON_NUM_THREADS": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=_die_with_parent,
        check=False,
    )
    # 3: points are missing, which is what a shard is about.
    if done.returncode in (0, 3):
        return results.read_bytes()[len(work.known) :]
    said = done.stderr.decode(errors="replace").strip().splitlines() or [""]
    what = said[0].removeprefix("wastenot: error: ") or f"it ended with {done.returncode}"
    advice = said[1].removeprefix("help: ") if len(said) > 1 else "see the logs of that node"
    return f"shard {shard} on node {socket.gethostname()}: {what}", advice


def _die_with_parent() -> None:
    """When a worker is killed, the program that it runs shall not go on for nobody."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
