"""Packages of the program that the tests built: what is in them, and that they install."""

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import unittest
import zipfile
from pathlib import Path

import formats
import notices
import tree

PROGRAM = tree.ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug/wastenot"
WHEN = 1_700_000_000
VERBS = ["doctor", "report", "record", "watch", "check", "draw", "compare", "convert", "run", "what-if", "list", "prove",
         "bounds", "rota", "completions", "man", "bounds-sweep", "rota-check"]


def run(*command: object) -> str:
    """What a command prints."""
    return subprocess.run([str(it) for it in command], check=True, text=True, stdout=subprocess.PIPE).stdout


class Packages(unittest.TestCase):
    """All three, made once."""

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        program = cls.folder / "wastenot"
        # What debuggers read is most of it, and takes most of the time to pack.
        run("strip", "-o", program, PROGRAM)
        cls.files = tree.files(program)
        os.environ["DPKG_DEB_COMPRESSOR_LEVEL"] = "0"
        cls.archive, cls.deb, cls.wheel = (
            pack(cls.files, cls.folder, WHEN) for pack in (formats.archive, formats.debian, formats.wheel))

    def prints_its_version(self, program: Path) -> None:
        self.assertEqual(run(program, "--version"), f"wastenot {tree.version()}\n")

    def test_every_verb_has_a_page_and_no_page_names_a_missing_one(self) -> None:
        pages = {Path(file.path).name: file.content.decode() for file in self.files if "/man1/" in file.path}
        for verb in VERBS:
            self.assertIn(f"wastenot-{verb}.1", pages)
            self.assertIn(f"wastenot {verb.split('-')[0]}", pages[f"wastenot-{verb}.1"].replace("\\-", "-"))
        self.assertNotIn("wastenot-help.1", pages)

    def test_the_archive_unpacks_below_a_prefix(self) -> None:
        with tarfile.open(self.archive) as tar:
            names = tar.getnames()
            tar.extractall(self.folder / "local", filter="tar")
        top = f"wastenot-{tree.version()}-{formats.MACHINE}-linux"
        self.assertEqual(names, [f"{top}/{file.path}" for file in self.files])
        self.prints_its_version(self.folder / "local" / top / "bin/wastenot")

    def test_the_debian_package_holds_them_where_debian_wants_them(self) -> None:
        root = self.folder / "debian"
        run("dpkg-deb", "--raw-extract", self.deb, root)
        self.prints_its_version(root / "usr/bin/wastenot")
        for path in ["bash-completion/completions/wastenot", "zsh/vendor-completions/_wastenot",
                     "fish/vendor_completions.d/wastenot.fish", "man/man1/wastenot-check.1.gz",
                     "doc/wastenot/copyright"]:
            self.assertTrue((root / "usr/share" / path).stat().st_size, path)
        for line in (root / "DEBIAN/md5sums").read_text().splitlines():
            expected, path = line.split("  ")
            self.assertEqual(hashlib.md5((root / path).read_bytes()).hexdigest(), expected, path)
        self.assertEqual(run("dpkg-deb", "--field", self.deb, "Version").strip(), tree.version())
        owners = {line.split()[1] for line in run("dpkg-deb", "--contents", self.deb).splitlines()}
        self.assertEqual(owners, {"root/root"})

    def test_the_wheel_installs_the_program_and_the_modules(self) -> None:
        environment = self.folder / "environment"
        try:
            run(sys.executable, "-m", "venv", environment)
        except subprocess.CalledProcessError:
            print("SKIPPED wheel: there is no pip for venv: apt-get install python3-venv")
            return
        run(environment / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", self.wheel)
        self.prints_its_version(environment / "bin/wastenot")
        # It finds the program beside itself, though the environment is not on PATH.
        found = run(environment / "bin/python", "-I", "-c",
                    "from wastenot import program; print(program.find('wastenot'))")
        self.assertEqual(found.strip(), str((environment / "bin/wastenot").resolve()))
        self.assertTrue((environment / "share/man/man1/wastenot-check.1").is_file())
        with zipfile.ZipFile(self.wheel) as packed:
            names = set(packed.namelist())
            record = packed.read(f"wastenot-{tree.version()}.dist-info/RECORD").decode()
            rows = [row.split(",") for row in record.splitlines()]
            self.assertEqual({row[0] for row in rows}, names)
            for path, digest, size in rows[:-1]:
                content = packed.read(path)
                self.assertEqual((digest, int(size)), (f"sha256={formats.digest(content)}", len(content)), path)

    def test_the_same_files_give_the_same_packages(self) -> None:
        few = [tree.File("bin/wastenot", 0o755, b"#!/bin/sh\n"), self.files[-1]]
        for pack in (formats.archive, formats.debian, formats.wheel):
            made = []
            for name in ("first", "second"):
                folder = self.folder / name
                folder.mkdir(exist_ok=True)
                made.append(pack(few, folder, WHEN).read_bytes())
            self.assertEqual(*made, pack.__name__)

    def test_python_knows_the_version_of_the_crates(self) -> None:
        project = tomllib.loads((tree.ROOT / "python/pyproject.toml").read_text())["project"]
        self.assertEqual(project["version"], tree.version())


class Notices(unittest.TestCase):
    """The licences of what is linked."""

    def test_the_text_of_every_crate_is_there(self) -> None:
        text = notices.text(tree.ROOT)
        for package in notices.linked(tree.ROOT):
            if package["source"]:
                named = f"  {package['name']} {package['version']} "
                self.assertTrue(named in text, named)
                # Its own, or one that others brought.
                own = notices.licences(Path(package["manifest_path"]).parent)
                self.assertTrue(own or package["license"] == "Apache-2.0", package["name"])
        for words in ["GNU LESSER GENERAL PUBLIC LICENSE", "SIL OPEN FONT LICENSE", "For Zstandard software",
                      "Mark Adler", "The Wastenot authors", "The Libbpf Authors", "Eric Biggers"]:
            self.assertTrue(words in text, words)

    def test_what_only_tests_and_build_scripts_use_is_not_named(self) -> None:
        names = {package["name"] for package in notices.linked(tree.ROOT)}
        self.assertIn("libbpf-sys", names)
        self.assertFalse(names & {"libbpf-cargo", "snapbox", "syn", "proptest"})


if __name__ == "__main__":
    unittest.main()
