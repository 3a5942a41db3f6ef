"""The licences of everything that is linked into the program."""

import json
import re
import subprocess
from collections import defaultdict
from pathlib import Path

LICENCE = re.compile(r"(un)?licen[cs]e|copying|notice|copyright", re.IGNORECASE)
# What is linked in beside the crates: its name, its licence, its text in the source of libbpf-sys, if there.
BESIDE = [
    ("elfutils (libelf)", "LGPL-3.0-or-later", ["elfutils/COPYING-LGPLV3", "elfutils/COPYING"]),
    ("GNU C Library", "LGPL-2.1-or-later", ["libbpf/LICENSE.LGPL-2.1"]),
    ("zlib", "Zlib", ["zlib/LICENSE"]),
    ("Rust's standard library", "MIT OR Apache-2.0", []),
]
HEAD = """\
Wastenot is under MIT or Apache-2.0, at your choice. The program contains what is listed here; the
texts of all licences follow. libbpf and zstd are used under their BSD licences.

libelf and the GNU C Library are under the GNU Lesser General Public License. To link the program with
other versions of them, install those and run `make dist` in the source of Wastenot.

"""


def text(root: Path) -> str:
    """All of it, as one file."""
    packages = linked(root)
    where = {package["name"]: Path(package["manifest_path"]).parent for package in packages}
    names = [(f"{it['name']} {it['version']}", it["license"]) for it in packages if it["source"]]
    texts: dict[str, list[str]] = defaultdict(list)
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        texts[(root / name).read_text(encoding="utf-8").strip()].append("Wastenot")
    for package in packages:
        if package["source"]:
            for file in licences(where[package["name"]]):
                texts[file.read_text(encoding="utf-8", errors="replace").strip()].append(package["name"])
    for name, licence, paths in BESIDE:
        names.append((name, licence))
        for path in paths:
            content = (where["libbpf-sys"] / path).read_text(encoding="utf-8", errors="replace")
            texts[content.strip()].append(name)
    listed = "".join(f"  {name:36} {licence}\n" for name, licence in names)
    parts = [f"{'-' * 78}\n{', '.join(dict.fromkeys(users))}:\n\n{it}\n" for it, users in texts.items()]
    return HEAD + listed + "\n" + "\n".join(parts)


def linked(root: Path) -> list[dict]:
    """The crates in the program, in the order of their names."""
    host = re.search(r"^host: (.*)$", output(root, "rustc", "-vV"), re.MULTILINE)[1]
    told = json.loads(output(root, "cargo", "metadata", "--format-version", "1", "--locked",
                             "--filter-platform", host))
    packages = {package["id"]: package for package in told["packages"]}
    nodes = {node["id"]: node for node in told["resolve"]["nodes"]}
    missing = [key for key, package in packages.items() if package["name"] == "wastenot"]
    found = set()
    while missing:
        key = missing.pop()
        procedural = any("proc-macro" in target["kind"] for target in packages[key]["targets"])
        if key not in found and not procedural:
            found.add(key)
            missing += [it["pkg"] for it in nodes[key]["deps"] if any(k["kind"] is None for k in it["dep_kinds"])]
    return sorted((packages[key] for key in found), key=lambda it: it["name"])


def licences(folder: Path) -> list[Path]:
    """The texts that come with a crate, also of C libraries and fonts in it, but not of what is not used."""
    found = [it for it in folder.rglob("*") if it.is_file() and LICENCE.match(it.name)]
    unused = {"elfutils", "zlib"} if folder.name.startswith("libbpf-sys") else set()
    return sorted(it for it in found if it.suffix != ".rs" and it.relative_to(folder).parts[0] not in unused)


def output(root: Path, *command: str) -> str:
    """What a command prints."""
    return subprocess.run(command, cwd=root, check=True, text=True, stdout=subprocess.PIPE).stdout
