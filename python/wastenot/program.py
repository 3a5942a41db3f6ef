"""The program `wastenot` on this machine: where it is, and what it says of a sweep."""

import glob
import json
import os
import shutil
import subprocess
import sysconfig
import tomllib
from dataclasses import dataclass
from pathlib import Path

# More shards than a sweep has points: the last of them has none, so that it works nothing out and
# only tells what there is.
NOTHING = "1000000/1000000"


class Failure(Exception):
    """What keeps a run from its answer: one line of what and where, one of what to do next."""

    def __init__(self, what: str, advice: str) -> None:
        super().__init__(what)
        self.advice = advice

    def __str__(self) -> str:
        return f"wastenot: error: {self.args[0]}\nhelp: {self.advice}"


@dataclass(frozen=True)
class Sweep:
    """A sweep that the program knows how to work out."""

    program: str
    experiment: Path
    results: Path

    def command(self, *words: str) -> list[str]:
        """The line that works out what is not in the results."""
        line = [self.program, "bounds", "sweep", str(self.experiment)]
        return [*line, "--resume", str(self.results), *words]

    def look(self, *words: str) -> tuple[int, int]:
        """How many points there are, and how many are missing in the results."""
        line = self.command("--shard", NOTHING, "--json", *words)
        done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode not in (0, 3):
            said = done.stderr.decode(errors="replace").strip().splitlines()
            what = said[0] if said else f"{self.program} ended with {done.returncode}"
            advice = said[1] if len(said) > 1 else "see `wastenot bounds sweep --help`"
            raise Failure(what.removeprefix("wastenot: error: "), advice.removeprefix("help: "))
        told = json.loads(done.stdout)
        return int(told["points"]), int(told["missing"])


def find(program: str) -> str:
    """The program of this name: on PATH, or where the wheel that holds this module put it."""
    found = shutil.which(program) or shutil.which(program, path=sysconfig.get_path("scripts"))
    if found is None:
        advice = "put it on PATH, or give its path with `--program PATH`"
        raise Failure(f"there is no program `{program}`", advice)
    return str(Path(found).resolve())


def files(experiment: Path) -> tuple[dict[str, bytes], str]:
    """The experiment with the tables that it names, and where it is among them."""
    told = tomllib.loads(experiment.read_text(encoding="utf-8"))
    named = [told.get("overheads"), *(curve.get("overheads") for curve in told.get("curves", []))]
    whole = Path(os.path.normpath(experiment.absolute()))
    found = {whole}
    for name in filter(None, named):
        if Path(name).is_absolute():
            advice = "give the path of the table relative to the experiment"
            raise Failure(f"{name} is an absolute path, which other nodes do not have", advice)
        # Which numbers of CPUs there are, the program knows; a table too many does no harm.
        pattern = glob.escape(name).replace("${cpus}", "*")
        tables = glob.glob(str(Path(glob.escape(str(whole.parent))) / pattern))
        found.update(Path(os.path.normpath(table)) for table in tables)
    base = os.path.commonpath([path.parent for path in found])
    content = {os.path.relpath(path, base): path.read_bytes() for path in sorted(found)}
    return content, os.path.relpath(whole, base)
