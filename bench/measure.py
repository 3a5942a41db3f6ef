"""Runs whole programs and measures them: time, CPU time, memory."""

import os
import platform
import statistics
import subprocess
import time


def in_turn(commands, runs, environment):
    """Each command once unmeasured (caches, memory), then all in turn: A B A B ..."""
    results = [{"command": shown(command), "peak_private_bytes": peak_private(command, environment)}
               for command in commands]
    taken = [[] for _ in commands]
    for _ in range(runs):
        for index, command in enumerate(commands):
            taken[index].append(once(command, environment))
    for result, samples in zip(results, taken):
        for key in ("wall_s", "cpu_s", "rss_bytes"):
            values = [sample[key] for sample in samples]
            result[key] = {"median": statistics.median(values), "min": min(values),
                           "max": max(values), "all": values}
    return results


def shown(command):
    """The command as a user would type it, without folders of this machine."""
    return " ".join(os.path.basename(word) if os.path.isabs(word) else word for word in command)


def start(command, environment):
    return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def once(command, environment):
    begin = time.monotonic()
    process = start(command, environment)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    ended_well(process, command)
    # Linux counts in KiB.
    return {"wall_s": wall, "cpu_s": usage.ru_utime + usage.ru_stime, "rss_bytes": usage.ru_maxrss * 1024}


def peak_private(command, environment):
    """The peak of anonymous memory. The kernel keeps a peak only of all resident memory, which
    includes a mapped trace although that is page cache; so this polls."""
    process = start(command, environment)
    peak = 0
    while process.poll() is None:
        peak = max(peak, private(process.pid))
        time.sleep(0.002)
    ended_well(process, command)
    return peak


def private(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            return sum(int(line.split()[1]) * 1024 for line in file if line.startswith("RssAnon"))
    except OSError:
        return 0  # it has just ended


def ended_well(process, command):
    said = process.stderr.read().decode(errors="replace")
    process.stderr.close()
    if process.returncode != 0:
        raise SystemExit(f"bench: `{shown(command)}` ended with {process.returncode}: {said[-500:]}")


def circumstances(root):
    """Machine, commit, versions: without them a figure means nothing."""
    def first(command, pattern=""):
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, cwd=root, check=False)
        except FileNotFoundError:
            return None
        lines = [line.strip() for line in done.stdout.splitlines() if pattern in line]
        return lines[0] if lines else None

    def field(path, name):
        with open(path, encoding="utf-8") as file:
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith(name)), None)

    return {
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": first(["git", "rev-parse", "--short=12", "HEAD"]),
        "changed_since": bool(first(["git", "status", "--porcelain"])),
        "machine": {
            "cpu": field("/proc/cpuinfo", "model name") or platform.machine(),
            "cpus": os.cpu_count(),
            "memory": field("/proc/meminfo", "MemTotal"),
            "kernel": platform.release(),
        },
        "tools": {
            "rustc": first(["rustc", "--version"]),
            "perf": first(["perf", "--version"]),
            "trace-cmd": first(["trace-cmd", "--version"], "version"),
        },
        "load_before": os.getloadavg(),
    }
