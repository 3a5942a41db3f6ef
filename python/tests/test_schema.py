"""The JSON Schema of scenarios accepts what the program accepts, and refuses typing errors."""

import copy
import json
import tomllib
import unittest
from pathlib import Path

try:
    import jsonschema
except ImportError:
    jsonschema = None

ROOT = Path(__file__).resolve().parents[2]


class Schema(unittest.TestCase):
    """`docs/reference/scenario.schema.json` and the scenarios of the repository."""

    def setUp(self) -> None:
        if jsonschema is None:
            print("SKIPPED the JSON Schema: no validator: pip install jsonschema", flush=True)
            raise unittest.SkipTest("jsonschema is not installed")
        text = (ROOT / "docs/reference/scenario.schema.json").read_text(encoding="utf-8")
        self.validator = jsonschema.Draft7Validator(json.loads(text))
        found = sorted((ROOT / "scenarios").rglob("*.toml"))
        read = {path: tomllib.loads(path.read_text(encoding="utf-8")) for path in found}
        self.scenarios = {
            path: scenario
            for path, scenario in read.items()
            if scenario.get("schema") == "wastenot.scenario/1"
        }

    def test_every_scenario_is_valid(self) -> None:
        self.assertGreater(len(self.scenarios), 40)
        for path, scenario in self.scenarios.items():
            errors = [f"{error.json_path}: {error.message}" for error in self.validator.iter_errors(scenario)]
            self.assertEqual(errors, [], path.relative_to(ROOT))

    def test_typing_errors_are_refused(self) -> None:
        for path, scenario in self.scenarios.items():
            for key in scenario:
                wrong = copy.deepcopy(scenario)
                wrong[key + "x"] = wrong.pop(key)
                self.assertFalse(self.validator.is_valid(wrong), f"{path}: {key}x")
        sound = {
            "schema": "wastenot.scenario/1",
            "machine": "smp4",
            "scheduler": {"name": "pinned"},
            "tasks": [{"name": "t", "program": ["compute 1ms"]}],
        }
        self.assertTrue(self.validator.is_valid(sound))
        for change in (
            {"seeds": 0},
            {"seeds": 10_001},
            {"limit": 5},
            {"tasks": {"name": "t"}},
            {"tasks": [{"use": "omp_bariers"}]},
            {"tasks": [{"name": "t", "nice": 20}]},
            {"tasks": [{"name": "t", "program": "compute 1ms"}]},
            {"costs": {"smt": 2}},
            {"costs": {"migration": ["1us", "2us"]}},
            {"pipes": {"p": {"capacity": -1}}},
            {"hotplug": [{"off": "1ms"}]},
            {"figures": [{"name": "f", "measure": "completions"}]},
            {"figures": [{"name": "f", "measure": "waste", "band": [1]}]},
            {"variants": [{"seeds": 2, "name": "v"}]},
            {"schema": "wastenot.scenario/2"},
        ):
            self.assertFalse(self.validator.is_valid({**sound, **change}), change)


if __name__ == "__main__":
    unittest.main()
