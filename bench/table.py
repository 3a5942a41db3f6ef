"""The results as text: the part of README about the latest run."""

import re
import statistics

BEGIN, END = "<!-- latest run -->", "<!-- end of latest run -->"


def origin(result):
    """The date and versions of the measurement, and the load of the machine."""
    load = ", ".join(f"{value:.1f}" for value in (result["load_before"][0], result["load_after"][0]))
    changed = " with changes" if result["changed_since"] else ""
    return f"{result['date'][:10]}, commit {result['commit']}{changed}", load


def table(result):
    machine = result["machine"]
    measured, load = origin(result)
    lines = [
        f"{measured}. {machine['cpu']}, "
        f"{machine['cpus']} CPUs, {machine['memory']}, Linux {machine['kernel']}, load before and "
        f"after: {load}. {', '.join(str(tool) for tool in result['tools'].values())}. "
        f"Medians of {result['runs']} runs; (least .. most).",
        "",
    ]
    if result["against"]:
        lines += against(result["against"])
    if result["pictures"]:
        lines += pictures(result["pictures"], result["files"])
    if result["stages"]:
        lines += stage_table(result["stages"])
    return "\n".join(lines).rstrip() + "\n"


def against(rows):
    lines = ["| file | events | program | wall s | CPU s | M events/s | ratio | peak private B/event |",
             "|---|---|---|---|---|---|---|---|"]
    for row in rows:
        base = row["peer"]["wall_s"]["median"]
        for who in ("ours", "peer"):
            taken = row[who]
            wall, cpu = taken["wall_s"], taken["cpu_s"]
            lines.append(
                f"| {row['file']} | {row['events']:,} | `{taken['command'].split(' -')[0]}` "
                f"| {spread(wall)} | {spread(cpu)} | {row['events'] / wall['median'] / 1e6:.2f} "
                f"| {base / wall['median']:.1f} | {taken['peak_private_bytes'] / row['events']:.1f} |")
    return lines + [""]


def pictures(rows, files):
    lines = ["| picture | of | wall s | CPU s | bytes |", "|---|---|---|---|---|"]
    for row in rows:
        drawn = row["drawn"]
        lines.append(f"| draw {row['picture']} | {row['file']}, {files[row['file']]['events']:,} events "
                     f"| {spread(drawn['wall_s'])} | {spread(drawn['cpu_s'])} | {drawn['bytes']:,} |")
    return lines + [""]


def stage_table(files):
    """Stages by files, in nanoseconds per row, so that files of different sizes can be compared."""
    whats = {stage["name"]: stage["what"] for file in files for stage in file["stages"]}
    columns = [{stage["name"]: stage["seconds"] for stage in file["stages"]} for file in files]
    lines = ["| stage, ns of CPU time a row | " + " | ".join(file["file"] for file in files) + " |",
             "|---|" + "---:|" * len(files)]
    for name, what in whats.items():
        each = [f"{statistics.median(column[name]) / max(1, file['rows']) * 1e9:.1f}"
                if name in column else "" for file, column in zip(files, columns)]
        lines.append(f"| **{name}**: {what} | " + " | ".join(each) + " |")
    for key in ("rows", "cpus", "tasks"):
        lines.append(f"| {key} | " + " | ".join(f"{file[key]:,}" for file in files) + " |")
    return lines + [""]


def spread(values):
    return f"{values['median']:.2f} ({values['min']:.2f} .. {values['max']:.2f})"


def into(path, text, name):
    """Puts the table between its marks."""
    replace(path, BEGIN, END, f"Raw: `runs/{name}`. {text}")


def replace(path, begin, end, text):
    """Puts the text between two marks of a page."""
    with open(path, encoding="utf-8") as file:
        page = file.read()
    block = f"{begin}\n{text}{end}"
    page = re.sub(f"{begin}.*{end}", lambda _: block, page, flags=re.DOTALL)
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)
