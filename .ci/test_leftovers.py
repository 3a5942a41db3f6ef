"""Everything that a test leaves behind is found, wherever it is, and nothing else is reported."""

import os
import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import leftovers


class Leftovers(unittest.TestCase):
    """Creates and removes each kind of leftover."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name in ("home/.cargo", "tracing/instances", "pins", "groups/a"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "tracing/set_event").touch()
        self.enterContext(unittest.mock.patch.multiple(
            leftovers, TRACING=[self.folder / "none", self.folder / "tracing"],
            PINS=self.folder / "pins", CGROUPS=self.folder / "groups"))
        self.enterContext(unittest.mock.patch.dict(
            os.environ, HOME=str(self.folder / "home"), WASTENOT_APART=f"/tmp:{self.folder}/home/.cargo"))
        self.before = leftovers.Machine()

    def left(self) -> list[str]:
        return [line.replace(str(self.folder), "") for line in self.before.left(0)]

    def test_nothing_is_nothing(self) -> None:
        (self.folder / "home/.cargo/registry").mkdir()
        self.assertEqual(self.left(), [])

    def test_each_kind_is_named(self) -> None:
        for name in ("home/.cache", "tracing/instances/wastenot", "pins/map", "groups/a/b", "groups/a/wastenot-b"):
            (self.folder / name).mkdir()
        (self.folder / "tracing/set_event").write_text("sched:sched_switch\n")
        self.assertEqual(self.left(), [
            "bpffs: /pins/map", "cgroup: /groups/a/wastenot-b", "files: /home/.cache",
            "tracefs: /tracing/instances/wastenot", "tracefs: sched:sched_switch"])

    def test_files_count_only_where_there_were_none(self) -> None:
        (self.folder / "home/.cache").mkdir()
        del os.environ["WASTENOT_APART"]
        self.assertEqual(self.left(), [])

    def test_a_process_is_named_though_it_left_its_session(self) -> None:
        # `Popen` returns while the kernel still sets up the program: its output shows that it runs.
        echo = subprocess.Popen(["cat"], start_new_session=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                env={**os.environ, **leftovers.mark()})
        self.enterContext(echo)
        self.addCleanup(echo.kill)
        echo.stdin.write(b"runs\n")
        echo.stdin.flush()
        echo.stdout.readline()
        self.assertEqual(self.left(), [f"process: {echo.pid} cat"])


if __name__ == "__main__":
    unittest.main()
