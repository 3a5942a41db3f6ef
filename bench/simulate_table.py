"""The results of bench/simulate as text: the part of README about the latest run."""

import statistics

import table as table_of_readers

BEGIN, END = "<!-- latest simulate -->", "<!-- end of latest simulate -->"


def table(result):
    machine = result["machine"]
    measured, load = table_of_readers.origin(result)
    lines = [
        f"{measured}. {machine['cpu']}, "
        f"{machine['cpus']} CPUs, Linux {machine['kernel']}, load before and after: {load}. "
        f"{result['tools']['rustc']}. {result['rounds']} rounds (growth: at most 3); medians of CPU "
        "time, (least .. most).",
        "",
    ]
    for part, show in (("speed", speed), ("growth", growth), ("memory", memory), ("simso", simso)):
        if result.get(part):
            lines += show(result[part]) + [""]
    return "\n".join(lines).rstrip() + "\n"


def spread(runs, key, unit):
    values = [run[key] / unit for run in runs]
    return f"{statistics.median(values):.2f} ({min(values):.2f} .. {max(values):.2f})"


def speed(all_runs):
    lines = ["| scheduler, 64 CPUs, 128 tasks | M rows/s |", "|---|---|"]
    return lines + [f"| {runs[0]['scheduler']} | {spread(runs, 'rows_per_second', 1e6)} |"
                    for runs in all_runs]


def growth(all_runs):
    names = list(dict.fromkeys(runs[0]["scheduler"] for runs in all_runs))
    sizes = list(dict.fromkeys((runs[0]["cpus"], runs[0]["tasks"]) for runs in all_runs))
    found = {(runs[0]["scheduler"], runs[0]["cpus"], runs[0]["tasks"]):
             statistics.median(1e9 / run["rows_per_second"] for run in runs) for runs in all_runs}
    lines = ["| CPUs | tasks | " + " | ".join(f"{name}, ns/row" for name in names) + " |",
             "|---:|---:|" + "---:|" * len(names)]
    return lines + [f"| {cpus} | {tasks:,} | "
                    + " | ".join(f"{found[name, cpus, tasks]:.0f}" for name in names) + " |"
                    for cpus, tasks in sizes]


def memory(rows):
    lines = ["| scheduler | bytes a task | bytes a CPU |", "|---|---:|---:|"]
    return lines + [f"| {row['scheduler']} | {row['task_bytes']:.0f} | {row['cpu_bytes']:.0f} |"
                    for row in rows]


def simso(all_runs):
    lines = ["| simulator | CPUs | jobs a run | thousand jobs/s | times SimSo's best |",
             "|---|---:|---:|---|---:|"]
    best = {}
    for runs in all_runs:
        scheduler, cpus = runs[0]["scheduler"], runs[0]["cpus"]
        median = statistics.median(run["jobs_per_second"] for run in runs)
        if scheduler.startswith("SimSo"):
            best[cpus] = max(median, best.get(cpus, 0))
    for runs in all_runs:
        cpus = runs[0]["cpus"]
        median = statistics.median(run["jobs_per_second"] for run in runs)
        lines.append(f"| {runs[0]['scheduler']} | {cpus} | {runs[0]['jobs']:,} "
                     f"| {spread(runs, 'jobs_per_second', 1e3)} | {median / best[cpus]:.0f} |")
    return lines


def into(path, text, name):
    """Puts the table between its marks."""
    raw = f"Raw: [`runs/{name}`](runs/{name}). {text}"
    table_of_readers.replace(path, BEGIN, END, raw)
