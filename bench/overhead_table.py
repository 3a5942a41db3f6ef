"""The cost of recording, as text: the part of README about the latest run."""

import random
import statistics

from table import origin

BEGIN, END = "<!-- latest overhead -->", "<!-- end of latest overhead -->"


def table(result):
    machine = result["machine"]
    measured, load = origin(result)
    lines = [f"{measured}. {machine['cpu']}, "
             f"{machine['cpus']} CPUs, Linux {machine['kernel']}, load before and after: {load}. "
             f"{result['tools']['perf']}. {result['rounds']} rounds; medians, and of slow-downs the 95 % "
             f"confidence interval of the median (bootstrap).", ""]
    for workload, rounds in result["workloads"].items():
        lines += [f"**perf bench sched {workload}**, {result['loops'][workload]:,} loops", "",
                  "| way | seconds | slow-down | bytes a switch | lost | tool's CPU s |",
                  "|---|---|---|---|---|---|"]
        for way in result["ways"]:
            lines.append(row(way, rounds))
        lines.append("")
    empty, full = (statistics.median(pair[index] for pair in result["look_ns"]) for index in (0, 1))
    cpus = machine["cpus"]
    lines += [f"**A look of watch**: {full:.0f} ns, {empty:.0f} ns without looking at any CPU: "
              f"{(full - empty) / cpus:.0f} ns a CPU (median of {len(result['look_ns'])} pairs).", ""]
    watch = result["watch"]
    took = watch["wastenot_own_cpu_seconds_total"] + watch["wastenot_looking_seconds_total"]
    lines += [f"**A watch that finds nothing**: {took / watch['seconds']:.4%} of a CPU at "
              f"{watch['switches'] / watch['seconds']:,.0f} switches a second "
              f"({watch['wastenot_looks_total']:.0f} looks, {watch['wastenot_suspicions_total']:.0f} "
              f"suspicions, {watch['seconds']:.0f} s).", ""]
    programs = dict(result["programs"])
    if empty := programs.pop("on_nothing", None):
        told = ", ".join(f"`{name[3:]}` {it['ns'] - empty['ns']:.0f}" for name, it in programs.items()
                         if it["runs"] > 1000)
        lines += [f"**BPF run time**, ns an event beyond an empty program's {empty['ns']:.0f}, both by the "
                  f"kernel's statistics: {told}.", ""]
    return "\n".join(lines).rstrip() + "\n"


def row(way, rounds):
    runs = [each[way] for each in rounds]
    seconds = statistics.median(run["seconds"] for run in runs)
    cells = [way, f"{seconds:.3f}"]
    if way == "bare" or "bare" not in rounds[0]:
        return "| " + " | ".join(cells + ["", "", "", ""]) + " |"
    slower = [each[way]["seconds"] / each["bare"]["seconds"] - 1 for each in rounds]
    low, high = interval(slower)
    cells.append(f"{statistics.median(slower):+.1%} ({low:+.1%} .. {high:+.1%})")
    sized = [run for run in runs if run["bytes"] is not None]
    cells.append(f"{statistics.median(r['bytes'] / r['switches'] for r in sized):.1f}" if sized else "")
    cells.append(f"{sum(run['lost'] for run in runs):,}")
    cells.append(f"{statistics.median(run['tool_cpu_s'] for run in runs):.2f}")
    return "| " + " | ".join(cells) + " |"


def interval(values):
    """The confidence interval of the median, by resampling the rounds (bootstrap)."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(2000))
    return medians[50], medians[1949]


def into(path, text, raw):
    """Puts the table between its marks in README."""
    with open(path, encoding="utf-8") as file:
        page = file.read()
    before, rest = page.split(BEGIN, 1)
    _, after = rest.split(END, 1)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\nRaw: [`runs/{raw}`](runs/{raw}). {text}{END}{after}")
