"""`wastenot convert -o DIR/`: recipes of docs/reference/tables.md run, figures are `check`'s."""

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

PROGRAM = Path(os.environ.get("WASTENOT", "target/debug/wastenot")).resolve()
ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/reference/tables.md"
TRACE = ROOT / "traces/7.2-t4x4-make.dat"
TABLES = ("events", "tasks", "spans", "waits", "violations", "episodes", "losses")

try:
    import duckdb
    import pandas
    import pyarrow.parquet
except ImportError as missing:
    print(f"SKIPPED tables: {missing.name} is not installed: pip install duckdb pandas pyarrow")
    duckdb = None


def recipes(language: str) -> list[str]:
    """The blocks of the page that are in this language."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)


def check(folder: str, *window: str) -> Any:
    """Writes the tables of a part of the trace; what `check` says of it."""
    subprocess.run([PROGRAM, "convert", TRACE, "-o", folder, *window], check=True)
    line = [PROGRAM, "check", TRACE, "--json", *window]
    return json.loads(subprocess.run(line, check=True, capture_output=True).stdout)


def one(query: str) -> Any:
    """The one value that a query gives; `{table}` is a file of it."""
    files = {table: f"'tables/{table}.parquet'" for table in TABLES}
    return duckdb.sql(query.format(**files)).fetchall()[0][0]


def result(recipe: str) -> Any:
    """What a recipe in Python calls `result`."""
    names: dict[str, Any] = {}
    exec(compile(recipe, str(PAGE), "exec"), names)
    return names["result"]


@unittest.skipIf(duckdb is None, "packages are missing")
class Tables(unittest.TestCase):
    """A recording as tables."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.room = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.room.cleanup)
        cls.addClassCleanup(os.chdir, Path.cwd())
        os.chdir(cls.room.name)
        cls.check = check("tables/")

    def test_recipes_of_duckdb_run_and_find_something(self) -> None:
        found = [duckdb.sql(recipe).fetchall() for recipe in recipes("sql")]
        self.assertEqual(len(found), 3)
        self.assertTrue(all(found), found)
        worst = one("SELECT sum(idle_ns) FROM {violations} GROUP BY task ORDER BY 1 DESC LIMIT 1")
        self.assertAlmostEqual(float(found[0][0][3]), worst / 1e6)

    def test_recipes_of_pandas_and_pyarrow_run_and_find_something(self) -> None:
        by_origin, by_time, about = [result(recipe) for recipe in recipes("python")]
        waits = one("SELECT sum(waits) FROM {tasks}")
        self.assertAlmostEqual(by_origin["count"].sum(), waits, delta=1)
        run_ns = one("SELECT sum(span_ns) FROM {spans} WHERE subject = 'task' AND state = 'run'")
        self.assertEqual(int(by_time.to_numpy().sum()), run_ns)
        self.assertEqual(about[1], 16)
        self.assertTrue(about[0]["nanoseconds"])

    def test_tables_add_up_to_what_check_says(self) -> None:
        cpu, waste, waits = self.check["cpu"], self.check["waste"], self.check["waits"]
        spent = "SELECT sum(span_ns) FROM {spans} WHERE"
        found = {
            f"{spent} subject = 'cpu' AND state = 'run'": cpu["busy_ns"],
            f"{spent} subject = 'task' AND state = 'run'": cpu["busy_ns"],
            f"{spent} state IN ('idle', 'waking')": cpu["idle_ns"],
            "SELECT sum(run_ns) FROM {tasks}": cpu["busy_ns"],
            "SELECT sum(waits) FROM {tasks}": waits["count"],
            "SELECT sum(cpu_ns) FROM {episodes}": waste["cpu_ns"],
            "SELECT count(*) FROM {episodes}": waste["episodes"],
            "SELECT max(span_ns) FROM {episodes}": waste["longest_ns"],
            "SELECT count(*) FROM {violations}": self.check["violation_count"],
            "SELECT sum(violations) FROM {tasks}": self.check["violation_count"],
            "SELECT count(*) FROM {losses}": len(self.check["losses"]),
            "SELECT count(*) FROM {events}": self.check["trace"]["events"],
        }
        for query, figure in found.items():
            self.assertEqual(one(query), figure, query)

    def test_spans_of_one_task_or_cpu_do_not_overlap(self) -> None:
        overlaps = """
            SELECT count(*) FROM (
                SELECT from_ns, lag(to_ns) OVER (
                    PARTITION BY subject, CASE WHEN subject = 'cpu' THEN cpu ELSE task END
                    ORDER BY from_ns
                ) AS before FROM {spans}
            ) WHERE before > from_ns
        """
        self.assertEqual(one(overlaps), 0)
        lengths = "SELECT sum(span_ns) AS ns FROM {spans} WHERE subject = 'cpu' GROUP BY cpu"
        self.assertEqual(one(f"SELECT count(DISTINCT ns) FROM ({lengths})"), 1)

    def test_the_page_describes_each_column(self) -> None:
        page = PAGE.read_text()
        for table in TABLES:
            schema = pyarrow.parquet.read_schema(f"tables/{table}.parquet")
            rows = [
                f"| `{field.name}` | {field.type} | {field.metadata[b'description'].decode()} |\n"
                for field in schema
            ]
            head = f"### {table}\n"
            self.assertIn(head, page)
            section = page.split(head)[1].split("\n### ")[0]
            self.assertEqual(re.findall(r"^\| `.*\n", section, re.MULTILINE), rows, table)
            about = pyarrow.parquet.read_metadata(f"tables/{table}.parquet").metadata
            self.assertEqual(about[b"wastenot.table"], table.encode())
            self.assertIn(b"wastenot.losses", about)

    def test_a_part_of_the_trace_has_the_figures_of_that_part(self) -> None:
        waste = check("part/", "--from", "20ms", "--to", "60ms")["waste"]["cpu_ns"]
        self.assertEqual(one("SELECT sum(cpu_ns) FROM 'part/episodes.parquet'"), waste)
        spans = pandas.read_parquet("part/spans.parquet")
        self.assertEqual(spans["to_ns"].max() - spans["from_ns"].min(), 40_000_000)


if __name__ == "__main__":
    unittest.main()
