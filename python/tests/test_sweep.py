"""Sweeps on Ray: the same bytes as on one machine, whatever is lost on the way."""

import contextlib
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from collections.abc import Callable
from pathlib import Path

from wastenot.sweep import Progress, gather, interrupts

PROGRAM = Path(os.environ.get("WASTENOT", "target/debug/wastenot")).resolve()
PACKAGE = Path(__file__).resolve().parents[1]

# Some seconds on two CPUs.
EXPERIMENT = """schema = "wastenot.sweep/1"
sets = 40
overheads = "../tables/${cpus}.csv"
[points]
cpus = [6, 8]
tasks_per_cpu = 4
total = { from = 1, step = 0.5 }
utilizations = "randfixedsum"
periods = "log-uniform 10-100 ms"
[[curves]]
name = "free"
implementation = "none"
[[curves]]
name = "message passing, by mail"
implementation = "gedf-mp"
"""
POINTS = 11 + 15
TABLE = "kind,at,max_us,average_us\nschedule,,50,5\nhandler,1,20,2\nhandler,40,30,3\n"


def lay(folder: Path) -> None:
    """Puts the experiment, its tables and the program there."""
    for name in ("bin", "other", "elsewhere", "none", "tables", "sweeps", "tmp"):
        (folder / name).mkdir()
    shutil.copy(PROGRAM, folder / "bin/wastenot")
    shutil.copy(PROGRAM, folder / "other/wastenot")
    with (folder / "other/wastenot").open("ab") as another_build:
        another_build.write(b"\n")
    (folder / "elsewhere/wastenot-elsewhere").symlink_to(folder / "bin/wastenot")
    (folder / "none/ray.py").write_text("raise ImportError('no ray')\n")
    (folder / "sweeps/e.toml").write_text(EXPERIMENT)
    # Not over before it is interrupted, however late the signal comes.
    (folder / "sweeps/long.toml").write_text(EXPERIMENT.replace("sets = 40", "sets = 8000"))
    for cpus in (6, 8):
        (folder / f"tables/{cpus}.csv").write_text(TABLE)


def start(folder: Path, *words: str, first: str = "bin", python: str = "") -> subprocess.Popen[str]:
    """Types `python -m wastenot.sweep`; `first` is the folder that PATH begins with."""
    environment = {
        **os.environ,
        "PATH": f"{folder / first}:{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": f"{python}:{PACKAGE}".lstrip(":"),
    }
    return subprocess.Popen(
        [sys.executable, "-m", "wastenot.sweep", *words],
        cwd=folder,
        env=environment,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def wait_for(what: str, is_so: Callable[[], bool], seconds: float = 60) -> None:
    """Waits until something is so."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.02)


def processes() -> dict[int, tuple[int, str, str]]:
    """Of each process its parent, its program and its line."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        # A process may be gone before all is read.
        with contextlib.suppress(OSError):
            status = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if status[0] != "Z":
                found[int(entry.name)] = (int(status[1]), str((entry / "exe").readlink()), line)
    return found


def working(folder: Path, below: int | None = None) -> list[int]:
    """The programs of this folder that run, as descendants of a process."""
    all_of_them = processes()

    def descends(process: int) -> bool:
        while process in all_of_them:
            if below is None or process == below:
                return True
            process = all_of_them[process][0]
        return False

    own = str(folder / "bin/wastenot")
    return [it for it, (_, program, _) in all_of_them.items() if program == own and descends(it)]


def setUpModule():
    """A shell that runs the tests in the background has them ignore what they send."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Alone(unittest.TestCase):
    """What needs no cluster."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(tempfile.mkdtemp(prefix="wn-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        lay(cls.folder)

    def said(self, *words: str, python: str = "") -> tuple[int, str]:
        """The exit code of a line, and all that it says."""
        process = start(self.folder, *words, python=python)
        text = "".join(process.communicate(timeout=60))
        return process.returncode, text

    def test_help_fits_a_screen(self) -> None:
        code, text = self.said("--help")
        self.assertEqual(code, 0, text)
        self.assertTrue(all(len(line) <= 80 for line in text.splitlines()), text)
        self.assertIn("Examples:", text)

    def test_what_is_wrong_is_told_with_what_to_do(self) -> None:
        there = self.folder / "there.csv"
        there.write_text("")
        for words, what, advice in (
            (["sweeps/e.toml"], "--ray", "--help"),
            (["no.toml", "--ray", "auto"], "cannot open no.toml", "docs/reference/sweep.md"),
            (["tables/8.csv", "--ray", "auto"], "tables/8.csv:1", "help: "),
            (["sweeps/e.toml", "--ray", "auto", "-o", "there.csv"], "exists", "--force"),
            (["sweeps/e.toml", "--ray", "auto", "-o", "it.pdf"], "it.pdf", ".csv"),
            (["sweeps/e.toml", "--ray", "auto", "--program", "lost"], "program `lost`", "PATH"),
            (["sweeps/e.toml", "--ray", "auto", "--resume", "tables/8.csv"], "not a results file", "new file"),
        ):
            code, text = self.said(*words)
            self.assertEqual(code, 2, text)
            self.assertTrue(text.startswith("wastenot: error: ") and "\nhelp: " in text, text)
            self.assertIn(what, text)
            self.assertIn(advice, text)
            self.assertEqual(len(text.splitlines()), 2, text)

    def test_a_node_that_is_lost_is_told_once(self) -> None:
        def node(name: str, alive: bool) -> dict[str, object]:
            cpus = {"CPU": 1.0}
            told = {"NodeID": name * 12, "NodeManagerHostname": "host", "Resources": cpus}
            return {**told, "Alive": alive}

        progress = Progress("e", 4)
        with contextlib.redirect_stderr(io.StringIO()) as said:
            for there in (True, False, False):
                progress.census([node("a", True), node("b", there)])
        told = "wastenot: node host (bbbbbbbb) is lost; its shards run elsewhere\n"
        self.assertEqual((said.getvalue(), progress.cpus), (told, 1))

    def test_without_ray_it_says_how_to_get_it(self) -> None:
        code, text = self.said("sweeps/e.toml", "--ray", "auto", python=str(self.folder / "none"))
        self.assertEqual(code, 2, text)
        self.assertIn("pip install ray", text)

    def test_an_interrupt_that_ray_drops_is_raised_all_the_same(self) -> None:
        def wait(waiting: list[object], timeout: float) -> tuple[list[object], list[object]]:
            del timeout
            with contextlib.suppress(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(5)
            return waiting, []

        ray = unittest.mock.Mock()
        ray.nodes.return_value = []
        ray.wait.side_effect = wait
        with interrupts() as interrupt, self.assertRaises(KeyboardInterrupt):
            list(gather(ray, unittest.mock.Mock(), 1, "sweep", interrupt))
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)


class OnRay(unittest.TestCase):
    """A cluster on this machine: one node for all tests, and one that is killed."""

    @classmethod
    def setUpClass(cls) -> None:
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        try:
            from ray.cluster_utils import Cluster
        except ImportError:
            print("SKIPPED sweeps on Ray: it is not installed: pip install ray", flush=True)
            raise unittest.SkipTest("Ray is not installed") from None
        cls.folder = Path(tempfile.mkdtemp(prefix="wn-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        lay(cls.folder)
        # `temp_dir` is for sessions; the address of the cluster goes into <RAY_TMPDIR>/ray all the
        # same, which is /tmp/ray unless told, and on a new machine is not there.
        cls.enterClassContext(unittest.mock.patch.dict(os.environ, RAY_TMPDIR=str(cls.folder)))
        cls.node = {
            "num_cpus": 1,
            "object_store_memory": 80_000_000,
            "env_vars": {
                "PATH": f"{cls.folder / 'bin'}:{os.environ['PATH']}",
                "TMPDIR": str(cls.folder / "tmp"),
            },
        }
        head = {**cls.node, "include_dashboard": False, "temp_dir": str(cls.folder / "ray")}
        cls.cluster = Cluster(initialize_head=True, head_node_args=head)
        cls.addClassCleanup(cls.end)

    @classmethod
    def end(cls) -> None:
        """Nothing is left running."""
        cls.cluster.shutdown()
        own = str(cls.folder)

        def gone() -> bool:
            return not any(own in program + line for _, program, line in processes().values())

        wait_for("the end of all processes", gone, 30)

    def start(
        self, *words: str, first: str = "bin", sweep: str = "sweeps/e.toml"
    ) -> subprocess.Popen[str]:
        """Types a line for this cluster."""
        process = start(self.folder, sweep, "--ray", self.cluster.address, *words, first=first)
        self.addCleanup(process.kill)
        return process

    def test_a_node_that_is_killed_changes_no_byte(self) -> None:
        local = ["bounds", "sweep", "sweeps/e.toml", "-o", "local.csv", "--text"]
        told = subprocess.run(
            [self.folder / "bin/wastenot", *local],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=True,
        )
        node = self.cluster.add_node(**self.node)
        ((raylet,),) = node.all_processes.values()
        kept = self.folder / "ray.results"
        process = self.start("--resume", "ray.results", "-o", "ray.csv", "--text")

        def rows() -> int:
            return kept.read_bytes().count(b"\n") if kept.exists() else 0

        def midway() -> bool:
            self.assertIsNone(process.poll(), "it is done already, or failed")
            return rows() >= POINTS // 4 and bool(working(self.folder, raylet.process.pid))

        wait_for("work on the second node", midway)
        os.kill(raylet.process.pid, signal.SIGKILL)
        self.assertLess(rows(), POINTS - 2, "the node was killed midway")
        said, complaints = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, complaints)
        self.assertEqual(said, told.stdout)
        local_csv = (self.folder / "local.csv").read_bytes()
        self.assertEqual((self.folder / "ray.csv").read_bytes(), local_csv)
        self.assertEqual(local_csv.count(b"\n"), 1 + POINTS * (2 + 4))
        self.assertEqual(rows(), POINTS, "no row was worked out twice for good")
        self.cluster.remove_node(node)

    def test_who_interrupts_it_leaves_nothing_running(self) -> None:
        process = self.start("-o", "interrupted.csv", sweep="sweeps/long.toml")
        wait_for("a shard", lambda: bool(working(self.folder, self.raylet())))
        process.send_signal(signal.SIGINT)
        said, complaints = process.communicate(timeout=60)
        self.assertEqual((process.returncode, said), (130, ""), complaints)
        self.assertEqual(complaints, "wastenot: interrupted\n")
        wait_for("the end of all shards", lambda: not working(self.folder), 20)
        self.assertFalse((self.folder / "interrupted.csv").exists())

    def raylet(self) -> int:
        """The process of the first node that starts workers."""
        return self.cluster.head_node.all_processes["raylet"][0].process.pid

    def test_builds_are_not_mixed(self) -> None:
        process = self.start("-o", "mixed.csv", first="other")
        said = "".join(process.communicate(timeout=60))
        self.assertEqual(process.returncode, 2, said)
        self.assertIn("another build of wastenot", said)
        self.assertFalse((self.folder / "mixed.csv").exists())

    def test_a_node_without_the_program_is_named(self) -> None:
        process = self.start("--program", "wastenot-elsewhere", first="elsewhere")
        said = "".join(process.communicate(timeout=60))
        self.assertEqual(process.returncode, 2, said)
        self.assertIn("has no program `wastenot-elsewhere`", said)
        self.assertIn("help: install it there", said)

    def test_where_no_cluster_is_it_says_so(self) -> None:
        process = start(self.folder, "sweeps/e.toml", "--ray", "127.0.0.1:1")
        said = "".join(process.communicate(timeout=60))
        self.assertEqual(process.returncode, 2, said)
        self.assertIn("no Ray cluster at 127.0.0.1:1", said)
        self.assertIn("ray start --head", said)


if __name__ == "__main__":
    unittest.main()
