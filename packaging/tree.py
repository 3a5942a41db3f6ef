"""What every package holds: the program, its pages, its completions, a unit and the licences, below one prefix."""

import re
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

import notices

ROOT = Path(__file__).resolve().parent.parent
COMPLETIONS = {
    "bash": "share/bash-completion/completions/wastenot",
    "zsh": "share/zsh/site-functions/_wastenot",
    "fish": "share/fish/vendor_completions.d/wastenot.fish",
}
# What a page lists below "Subcommands", as roff writes it: wastenot\-check(1).
PAGE = re.compile(r"^(wastenot(?:\\-[a-z]+)+)\(1\)$", re.MULTILINE)


@dataclass(frozen=True)
class File:
    """A file of a package."""

    path: str
    mode: int
    content: bytes


def version() -> str:
    """The version of all crates."""
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    return cargo["workspace"]["package"]["version"]


def files(program: Path) -> list[File]:
    """All files, from a program that runs here."""
    found = [File("bin/wastenot", 0o755, program.read_bytes())]
    found += [File(f"share/man/man1/{name}.1", 0o644, text) for name, text in pages(program)]
    found += [
        File(path, 0o644, output(program, "completions", shell)) for shell, path in COMPLETIONS.items()
    ]
    found += [
        File(f"share/doc/wastenot/{it.name}", 0o644, it.read_bytes()) for it in sorted((ROOT / "contrib").iterdir())
    ]
    return [*found, File("share/doc/wastenot/copyright", 0o644, notices.text(ROOT).encode())]


def pages(program: Path) -> list[tuple[str, bytes]]:
    """Every man page: each names those of its subcommands."""
    found: dict[str, bytes] = {}
    # Verbs have hyphens, too: the words of a page are those of the page above it, and one more.
    missing: list[tuple[str, list[str]]] = [("wastenot", [])]
    while missing:
        name, words = missing.pop()
        found[name] = output(program, "man", *words)
        listed = {it.replace("\\", "") for it in PAGE.findall(found[name].decode())}
        below = (page.removeprefix(f"{name}-") for page in listed if page.startswith(f"{name}-"))
        missing += [(f"{name}-{word}", [*words, word]) for word in below if f"{name}-{word}" not in found]
    return sorted(found.items())


def output(program: Path, *words: str) -> bytes:
    """What the program prints."""
    return subprocess.run([program, *words], check=True, stdout=subprocess.PIPE).stdout
