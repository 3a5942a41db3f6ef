"""The hash of long work changes with the code of its sources, and with nothing else."""

import importlib.machinery
import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("long", str(Path(__file__).with_name("long")))
long = importlib.util.module_from_spec(importlib.util.spec_from_loader("long", LOADER))
LOADER.exec_module(long)

CODE = 'fn a() -> &str {\n    f("x // y", 1)\n}\n'


class Digest(unittest.TestCase):
    """Hashes a crate that each test changes."""

    def digest(self, text: str, folder: str = "crates/a") -> str:
        with tempfile.TemporaryDirectory() as root:
            source = Path(root, folder, "src/lib.rs")
            source.parent.mkdir(parents=True)
            source.write_text(text, encoding="utf-8")
            Path(root, folder, "Cargo.toml").write_text('[package]\nname = "a"\n', encoding="utf-8")
            return long.digest({"sources": [f"{folder}/src"]}, Path(root))

    def test_comments_formatting_unit_tests_and_folders_do_not_count(self) -> None:
        same = ["// Why.\n" + CODE, CODE.replace('f("x // y", 1)', 'f(\n        "x // y",\n        1,\n    )'),
                CODE + "\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n"]
        for text in same:
            self.assertEqual(self.digest(text), self.digest(CODE), text)
        self.assertEqual(self.digest(CODE, "crates/house/a"), self.digest(CODE))

    def test_code_and_strings_count(self) -> None:
        for old, new in [("1)", "2)"), ("// y", "// z"), ("x //", "x  //"), ("fn a", "fn b")]:
            self.assertNotEqual(self.digest(CODE.replace(old, new)), self.digest(CODE), new)


if __name__ == "__main__":
    unittest.main()
