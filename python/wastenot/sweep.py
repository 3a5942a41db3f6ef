"""`python -m wastenot.sweep`: what `wastenot bounds sweep` does, on a Ray cluster.

Nothing is judged here. Each task of the cluster has the program `wastenot` work out one shard;
what comes back is kept as the program keeps it, and at the end the program writes the result of
what is kept. So the result is that of a run on one machine, to the byte.
"""

import argparse
import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, NoReturn

from wastenot import program, shard
from wastenot.program import Failure

# How often a task is tried again whose node or worker was lost. More is no bad luck.
RETRIES = 10
# Shards for each CPU: of a node that is lost only so much is lost, and no CPU idles for long at
# the end.
SHARDS_A_CPU = 8

EPILOG = """\
Each node needs Ray and the program `wastenot`, in the same build as on this
machine. Ray sends the experiment and its tables to the nodes.

If a node is lost, its unfinished shards run on other nodes. After an interrupt,
--resume continues the sweep, here or with `wastenot bounds sweep`.

ADDRESS is the address that `ray start --head` prints (host:port), `auto` on a
node of the cluster, or ray://host:10001 from other machines.

Exit codes: 0 the sweep is complete; 2 it failed; 130 it was interrupted.

Examples:
  python -m wastenot.sweep big.toml --ray auto -o big.csv
  python -m wastenot.sweep big.toml --ray 10.0.0.1:6379 --resume big.results
"""


class Parser(argparse.ArgumentParser):
    """A parser that complains in two lines."""

    def error(self, message: str) -> NoReturn:
        """Says what is wrong with the line that was typed."""
        raise Failure(message, "see `python -m wastenot.sweep --help`")


def parser() -> argparse.ArgumentParser:
    """What can be typed."""
    it = Parser(
        prog="python -m wastenot.sweep",
        description="Compute the share of random task sets that can be scheduled, on a Ray\n"
        "cluster. The result is the same as that of `wastenot bounds sweep`.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    it.add_argument("experiment", metavar="EXPERIMENT", type=Path, help="the sweep (TOML)")
    it.add_argument("--ray", metavar="ADDRESS", required=True, help="the cluster")
    it.add_argument(
        "--resume",
        metavar="RESULTS",
        type=Path,
        help="keep computed points in this file, and compute only the points that it lacks",
    )
    it.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="write all points and curves as CSV; - is standard output",
    )
    it.add_argument("--force", action="store_true", help="replace OUT if it exists")
    it.add_argument(
        "--program",
        metavar="PATH",
        default="wastenot",
        help="the program, here and on all nodes (default: wastenot on PATH)",
    )
    face = it.add_mutually_exclusive_group()
    face.add_argument("--json", action="store_true", help="report as one JSON object")
    face.add_argument("--text", action="store_true", help="report as plain text")
    return it


def run(args: argparse.Namespace) -> int:
    """Works a sweep out; returns the exit code."""
    faces = [word for word in ("--json", "--text") if getattr(args, word.strip("-"))]
    output = ["-o", args.output] if args.output is not None else []
    output += ["--force"] if args.force else []
    with tempfile.TemporaryDirectory(prefix="wastenot-") as folder:
        results = args.resume or Path(folder, "results")
        sweep = program.Sweep(program.find(args.program), args.experiment, results)
        points, missing = sweep.look()
        if missing > 0:
            sweep.look(*output)  # a wrong OUT is told now, and not after hours
            cluster(args, sweep, points)
            if sweep.look()[1] > 0:
                raise Failure(
                    f"{results} lacks rows, although all shards are done",
                    f"run the sweep again if {sweep.program} was replaced while it ran",
                )
        line = sweep.command(*output, *faces)
        return subprocess.run(line, check=False).returncode


def cluster(args: argparse.Namespace, sweep: program.Sweep, points: int) -> None:
    """Has a cluster work out what is missing, and keeps it."""
    files, experiment = program.files(sweep.experiment)
    work = shard.Work(
        program=there(args.program),
        digest=shard.digest(sweep.program),
        files=files,
        experiment=experiment,
        known=sweep.results.read_bytes(),
    )
    ray = join(args.ray)
    # Ray prints what lost nodes had logged, and only results belong on standard output.
    with (
        Path(os.devnull).open("w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        interrupts() as interrupt,
    ):
        try:
            of = shards(ray, points)
            all_rows = gather(ray, work, of, sweep.experiment.stem, interrupt)
            with sweep.results.open("ab") as kept, contextlib.closing(all_rows):
                for rows in all_rows:
                    kept.write(rows)
                    kept.flush()
        finally:
            # Workers end with the job that they work for. `ray.cancel` would end them too, but
            # Ray 2.60 aborts this process where a shard is done at the moment that it is cancelled.
            ray.shutdown()


@contextlib.contextmanager
def interrupts() -> Generator[Callable[[], None], None, None]:
    """Gives what raises an interrupt that came already: where Ray calls Python from C, the
    exception of the interrupt is printed or dropped, and not raised."""
    came = threading.Event()

    def remember(number: int, frame: FrameType | None) -> None:
        came.set()
        signal.default_int_handler(number, frame)

    def interrupt() -> None:
        if came.is_set():
            raise KeyboardInterrupt

    # Where interrupts are ignored, they stay so.
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield interrupt
        return
    signal.signal(signal.SIGINT, remember)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def there(typed: str) -> str:
    """What nodes look for: a name on their PATH, or a path that is the same from everywhere."""
    return typed if Path(typed).name == typed else str(Path(typed).absolute())


def join(address: str) -> ModuleType:
    """Ray, once it is one of the cluster's."""
    try:
        import ray
        from ray import cloudpickle
    except ImportError:
        advice = "run `pip install ray==VERSION` with the version of the cluster"
        raise Failure("Ray is not installed", advice) from None
    advice = "`ray start --head` starts a cluster and prints its address"
    host, _, port = address.rpartition(":")
    if port.isdigit() and "/" not in host:
        # Ray itself would go on asking for minutes.
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
        except (OSError, OverflowError) as error:
            raise Failure(f"no Ray cluster at {address}: {error}", advice) from error
    # Nodes need not have this package.
    cloudpickle.register_pickle_by_value(shard)
    try:
        ray.init(address, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise Failure(f"no Ray cluster at {address}: {said[0]}", advice) from error
    joined: ModuleType = ray
    return joined


def shards(ray: ModuleType, points: int) -> int:
    """Into how many parts the points are split."""
    cpus = int(ray.cluster_resources().get("CPU", 0))
    return min(points, max(1, cpus) * SHARDS_A_CPU)


class Progress:
    """Who works, and how much is done: on stderr, and only where somebody looks."""

    def __init__(self, name: str, of: int) -> None:
        self.name = name
        self.of = of
        self.nodes: dict[str, str] = {}
        self.cpus = 0
        self.next = 0.0
        self.shown = False

    def look(self, ray: ModuleType, done: int) -> None:
        """Tells what has changed."""
        if time.monotonic() >= self.next:
            self.next = time.monotonic() + 1.0
            self.census(ray.nodes())
        if sys.stderr.isatty():
            self.shown = True
            who = f"{self.cpus} CPUs on {len(self.nodes)} nodes"
            text = f"judging {self.name}: {done} of {self.of} shards, {who}"
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def census(self, nodes: list[dict[str, Any]]) -> None:
        """Who is there, and who no longer is."""
        alive = {it["NodeID"]: it["NodeManagerHostname"] for it in nodes if it["Alive"]}
        cpus = (it["Resources"].get("CPU", 0) for it in nodes if it["Alive"])
        self.cpus = int(sum(cpus))
        for lost in self.nodes.keys() - alive.keys():
            self.say(f"node {self.nodes[lost]} ({lost[:8]}) is lost; its shards run elsewhere")
        if self.cpus == 0 and self.nodes != alive:
            self.say("no node has a CPU; waiting for one")
        self.nodes = alive

    def say(self, text: str) -> None:
        """Says something beside the result."""
        self.end()
        print(f"wastenot: {text}", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Takes the line of progress away."""
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        self.shown = False


def gather(
    ray: ModuleType, work: shard.Work, of: int, name: str, interrupt: Callable[[], None]
) -> Generator[bytes, None, None]:
    """The rows of each shard, as they come, until `interrupt` raises."""
    progress = Progress(name, of)
    task = ray.remote(num_cpus=1, max_retries=RETRIES)(shard.work_out)
    work_there = ray.put(work)
    waiting = {task.remote(work_there, index, of): index for index in range(of)}
    try:
        while waiting:
            progress.look(ray, of - len(waiting))
            done, _ = ray.wait(list(waiting), timeout=0.5)
            interrupt()
            for reference in done:
                yield rows_of(ray, reference, f"shard {waiting.pop(reference) + 1}/{of}")
    finally:
        progress.end()


def rows_of(ray: ModuleType, reference: object, name: str) -> bytes:
    """What a task gave."""
    try:
        answer = ray.get(reference)
    except ray.exceptions.RayError as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        advice = f"see the logs of the cluster; Ray tried the shard {RETRIES} more times"
        raise Failure(f"{name} cannot be computed: {said[-1]}", advice) from error
    if isinstance(answer, bytes):
        return answer
    what, advice = answer
    raise Failure(what, advice)


def main(words: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    args = None
    try:
        args = parser().parse_args(words)
        return run(args)
    except Failure as failure:
        print(failure, file=sys.stderr)
        return 2
    except OSError as error:
        print(Failure(str(error), "check the path and its permissions"), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        kept = args and args.resume
        advice = f"; `--resume {kept}` continues with the points that are done" if kept else ""
        print(f"wastenot: interrupted{advice}", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
