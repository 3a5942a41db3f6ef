"""The results of bench/real-time as text: the part of README about the latest run."""

import statistics

import table as table_of_readers
from simulate_table import spread

BEGIN, END = "<!-- latest real-time -->", "<!-- end of latest real-time -->"


def table(result):
    machine = result["machine"]
    measured, load = table_of_readers.origin(result)
    peer = result.get("schedcat")
    who = (f"SchedCAT {peer['commit'][:12]}, g++ {peer['g++']} {' '.join(peer['flags'])}" if peer
           else "without SchedCAT")
    lines = [
        f"{measured}. {machine['cpu']}, {machine['cpus']} CPUs, Linux {machine['kernel']}, load "
        f"before and after: {load}. {result['tools']['rustc']}; {who}. {result['rounds']} rounds; "
        "medians of CPU time, (least .. most).",
        "",
    ]
    for part, show in (("gedf", gedf), ("designs", designs), ("tests", tests), ("cpus", cpus)):
        if result.get(part):
            lines += show(result[part]) + [""]
    return "\n".join(lines).rstrip() + "\n"


def median(runs, key):
    return statistics.median(run[key] for run in runs)


def gedf(rows):
    lines = ["| CPUs | tasks | U | jobs | ours, M jobs/s | SchedCAT, M jobs/s | ratio | same outcome |",
             "|---:|---:|---:|---:|---|---|---:|---|"]
    for row in rows:
        ours, theirs = row["ours"], row["theirs"]
        compared = ["", "", ""]
        if theirs:
            ratio = median(ours["runs"], "jobs_per_second") / median(theirs["runs"], "jobs_per_second")
            compared = [spread(theirs["runs"], "jobs_per_second", 1e6), f"{ratio:.1f}",
                        outcomes(ours, theirs)]
        lines.append(f"| {row['cpus']} | {row['tasks']} | {row['utilization']} "
                     f"| {ours['runs'][0]['jobs']:,} | {spread(ours['runs'], 'jobs_per_second', 1e6)} | "
                     + " | ".join(compared) + " |")
    return lines


def outcomes(ours, theirs):
    """In how many sets the jobs, the late jobs, and their total and maximum lateness are the same. If
    they are not, tie-breaking must matter: it does if our outcome changes with it."""
    pairs = list(zip(ours["seen"], theirs["seen"]))
    other = [number for number, (a, b) in enumerate(pairs) if a != b]
    ties = ours["runs"][0]["ties_matter"]
    open_ = [number for number in other if number not in ties]
    said = f"{len(pairs) - len(other)} of {len(pairs)} sets"
    if other:
        said += f"; in {len(other) - len(open_)} equal deadlines matter"
    return said + (f"; UNEXPLAINED: {open_}" if open_ else "")


def designs(rows):
    lines = ["| design | CPUs | tasks | U | jobs | M jobs/s | rows of History a job |",
             "|---|---:|---:|---:|---:|---|---:|"]
    for row in rows:
        runs = row["ours"]["runs"]
        lines.append(f"| {row['design']} | {row['cpus']} | {row['tasks']} | {row['utilization']} "
                     f"| {runs[0]['jobs']:,} | {spread(runs, 'jobs_per_second', 1e6)} "
                     f"| {runs[0]['rows'] / runs[0]['jobs']:.1f} |")
    return lines


def tests(rows):
    """One line per test, over all utilizations; then by utilization."""
    sizes = list(dict.fromkeys(row["utilization"] for row in rows))
    lines = ["| test | sets | ours, sets/s | SchedCAT, sets/s | ratio | "
             + " | ".join(f"U = {size}" for size in sizes) + " | same answer |",
             "|---|---:|---:|---:|---:|" + "---:|" * len(sizes) + "---|"]
    names = list(dict.fromkeys(row["test"] for row in rows))
    lines += [line(name, [row for row in rows if row["test"] == name]) for name in names]
    lines.append(together("all", rows, len(sizes)))
    if "ffdbf" in names:
        rest = [row for row in rows if row["test"] != "ffdbf"]
        lines.append(together("all but ffdbf", rest, len(sizes)))
    return lines


def count(row):
    return row["ours"]["runs"][0]["sets"]


def seconds(row, who):
    """The figures of one set."""
    return median(row[who]["runs"], "cpu_seconds") / count(row)


def line(name, rows):
    sets = sum(count(row) for row in rows)
    ours = sum(seconds(row, "ours") for row in rows) / len(rows)
    compared = ["", "", *["" for _ in rows], ""]
    if rows[0]["theirs"]:
        theirs = sum(seconds(row, "theirs") for row in rows) / len(rows)
        ratios = [seconds(row, "theirs") / seconds(row, "ours") for row in rows]
        same = sum(a == b for row in rows
                   for a, b in zip(row["ours"]["answers"], row["theirs"]["answers"]))
        compared = [figure(1 / theirs), figure(theirs / ours), *[figure(ratio) for ratio in ratios],
                    f"{same} of {sets}"]
    return f"| {name} | {sets} | {figure(1 / ours)} | " + " | ".join(compared) + " |"


def together(name, rows, sizes):
    """All tests of a set, one after the other."""
    ours = sum(seconds(row, "ours") for row in rows) / sizes
    compared = ["", ""]
    if rows[0]["theirs"]:
        theirs = sum(seconds(row, "theirs") for row in rows) / sizes
        compared = [figure(1 / theirs), figure(theirs / ours)]
    return f"| {name} | | {figure(1 / ours)} | " + " | ".join(compared) + " |" + " |" * (sizes + 1)


def figure(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.3f}"


def cpus(rows):
    """Wall time shows what other programs left; CPU time per set shows what threads cost each other."""
    lines = ["| threads | sets/s of wall time | us of CPU time a set | as many programs apart: sets/s | "
             "us of CPU time a set |", "|---:|---|---:|---|---:|"]
    for row in rows:
        threads = [{"rate": run["sets"] / run["seconds"], "us": run["cpu_seconds"] / run["sets"] * 1e6}
                   for run in row["together"]]
        apart = [{"rate": sum(run["sets"] / run["seconds"] for run in runs),
                  "us": sum(run["cpu_seconds"] for run in runs) / sum(run["sets"] for run in runs) * 1e6}
                 for runs in row["apart"]]
        lines.append(f"| {row['threads']} | {spread(threads, 'rate', 1)} | {median(threads, 'us'):.0f} "
                     f"| {spread(apart, 'rate', 1)} | {median(apart, 'us'):.0f} |")
    return lines


def into(path, text, name):
    """Puts the table between its marks."""
    raw = f"Raw: [`runs/{name}`](runs/{name}). {text}"
    table_of_readers.replace(path, BEGIN, END, raw)
