"""The results of bench/prove as text: the part of README about the latest run."""

import table as table_of_readers

BEGIN, END = "<!-- latest prove -->", "<!-- end of latest prove -->"


def table(result):
    machine = result["machine"]
    measured, load = table_of_readers.origin(result)
    lines = [
        f"{measured}. {machine['cpu']}, {machine['cpus']} CPUs, Linux {machine['kernel']}, load "
        f"before and after: {load}. {', '.join(result['solvers'].values())}. The best of "
        f"{result['rounds']} rounds, right policies without a solver once; wall time, and CPU time in "
        "brackets, in seconds.",
        "",
    ]
    right = [policy for policy in result["policies"] if policy["right"]]
    wrong = [policy for policy in result["policies"] if not policy["right"]]
    lines += of("right policy", right, scripts=True) + [""] + of("wrong policy", wrong)
    return "\n".join(lines).rstrip() + "\n"


def of(title, policies, scripts=False):
    if not policies:
        return []
    ways = [way["way"] for way in policies[0]["ways"]]
    names = {"none": "no solver"}
    head = [title] + (["questions"] if scripts else []) + [names.get(way, way) for way in ways]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    for policy in policies:
        each = [f"{best(way, 'wall_s'):.2f} ({best(way, 'cpu_s'):.2f})" for way in policy["ways"]]
        count = [str(policy["scripts"])] if scripts else []
        lines.append("| " + " | ".join([policy["policy"].removeprefix("wrong/")] + count + each) + " |")
    count = [str(sum(policy["scripts"] for policy in policies))] if scripts else []
    sums = []
    for number in range(len(ways)):
        all_of = [policy["ways"][number] for policy in policies]
        sums.append(f"{sum(best(way, 'wall_s') for way in all_of):.2f} "
                    f"({sum(best(way, 'cpu_s') for way in all_of):.2f})")
    return lines + ["| " + " | ".join(["all, one after the other"] + count + sums) + " |"]


def best(way, key):
    return min(run[key] for run in way["runs"])


def into(path, text, name):
    """Puts the table between its marks."""
    raw = f"Raw: [`runs/{name}`](runs/{name}). {text}"
    table_of_readers.replace(path, BEGIN, END, raw)
