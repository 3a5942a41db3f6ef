"""Makes the big inputs: real recordings if the machine allows it, else repeated ones.

One run of `perf bench sched messaging` is recorded twice at the same time: by `perf sched record`,
and in a tracefs instance with a ring buffer that holds the whole run, extracted by `trace-cmd extract`.
That works even if `trace-cmd record` is refused, since it needs no tracer; and both peers then
read the same run, each in its own format.
"""

import json
import os
import subprocess
import sys

TRACEFS = "/sys/kernel/tracing"
TRACES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "traces")
EVENTS = ["switch", "waking", "wakeup", "wakeup_new", "migrate_task",
          "process_fork", "process_exec", "process_exit"]
# Loops per million events of the ring buffer with 160 tasks on 2 CPUs; more CPUs make more.
LOOPS_PER_MILLION = 10000
# Bytes of ring buffer per event of 160 tasks, with room to spare.
RING_BYTES_PER_EVENT = 100


class Refused(Exception):
    """This machine does not allow it, or lacks a required tool."""


def make(tool, folder, events, fresh):
    """The inputs in `folder` by name: kind, events, bytes, how each was made. And those that are missing."""
    listed = os.path.join(folder, "inputs.json")
    if os.path.exists(listed) and not fresh:
        with open(listed, encoding="utf-8") as file:
            return json.load(file), []
    files, skipped = {}, []

    def add(kind, name, how):
        path = os.path.join(folder, name)
        files[name] = {"kind": kind, "events": count(tool, path),
                       "bytes": os.path.getsize(path), "how": how}
        print(f"bench: {name}: {files[name]}", file=sys.stderr)

    for part in (messaging, wide):
        try:
            part(tool, folder, events, add)
        except (Refused, FileNotFoundError) as reason:
            skipped.append(f"bench inputs of {part.__name__}: {reason}: run as root where tracefs "
                           "and perf are, with linux-perf and trace-cmd")
    with open(listed, "w", encoding="utf-8") as file:
        json.dump(files, file, indent=1)
    return files, skipped


def messaging(tool, folder, events, add):
    """One run for both peers, or the recording in traces/ repeated."""
    packed, plain = (os.path.join(folder, name) for name in ("packed.dat", "messaging.dat"))
    perf = os.path.join(folder, "messaging.perf.data")
    loops = max(2, events * LOOPS_PER_MILLION // 1_000_000)
    try:
        # The number of events per loop depends on what else runs.
        for _ in range(3):
            command = workload(loops, 4 if events > 100_000 else 1)
            with Instance(2 * events) as instance:
                record(perf, command)
                instance.stop()
                instance.extract(packed)
            recorded = count(tool, packed)
            if recorded >= events:
                break
            loops = loops * events * 5 // (recorded * 4) + 1
        add("perf.data", "messaging.perf.data", f"perf sched record -m 4096 -- {' '.join(command)}")
        how = f"the same run in a tracefs instance, trace-cmd extract -B: {' '.join(command)}"
        convert(packed, plain, "none")
    except Refused as reason:
        print(f"bench: {reason}: repeating a recording in time", file=sys.stderr)
        how = unpacked_and_repeated(tool, "host-6.18-2cpu-messaging.dat", plain, events)
    add("trace.dat", "messaging.dat", how)
    convert(plain, packed, "zstd")
    os.replace(packed, os.path.join(folder, "messaging.zstd.dat"))
    add("trace.dat", "messaging.zstd.dat", "trace-cmd convert --compression zstd of messaging.dat")
    if os.path.exists(perf):
        record(os.path.join(folder, "messaging.zstd.perf.data"), command, "-z")
        add("perf.data", "messaging.zstd.perf.data",
            f"another run: perf sched record -m 4096 -z -- {' '.join(command)}")


def workload(loops, groups):
    """40 tasks per group that send each other messages."""
    return ["perf", "bench", "sched", "messaging", "-g", str(groups), "-l", str(loops)]


def wide(tool, folder, events, add):
    """128 CPUs."""
    name = "7.2-s4x16x2-make.dat"
    add("wide", "wide.dat",
        unpacked_and_repeated(tool, name, os.path.join(folder, "wide.dat"), events))


def unpacked_and_repeated(tool, name, to, events):
    unpacked = to + ".once"
    convert(os.path.join(TRACES, name), unpacked, "none")
    said = subprocess.run([tool, "repeat", unpacked, to, str(events)], stdout=subprocess.PIPE,
                          check=True, text=True)
    os.remove(unpacked)
    return f"traces/{name}: {said.stdout.strip()}"


def count(tool, path):
    counted = subprocess.run([tool, "count", path], stdout=subprocess.PIPE, check=True)
    return int(counted.stdout)


def convert(source, to, compression):
    quiet(["trace-cmd", "convert", "-i", source, "-o", to, "--compression", compression,
           "--file-version", "7"])


def record(to, command, *options):
    # -N: no copy of the kernel's symbols in ~/.debug.
    quiet(["perf", "sched", "record", "-N", "-m", "4096", *options, "-o", to, "--", *command])


def quiet(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise Refused(f"`{' '.join(command[:3])}` failed: {done.stdout.strip()[-200:]}")


class Instance:
    """A separate ring buffer that records scheduling events."""

    def __init__(self, events):
        self.name = f"wastenot-bench-{os.getpid()}"
        self.path = os.path.join(TRACEFS, "instances", self.name)
        self.kilobytes = max(1024, events * RING_BYTES_PER_EVENT // 1024)

    def __enter__(self):
        try:
            if not os.path.isdir(os.path.dirname(self.path)):
                quiet(["mount", "-t", "tracefs", "nodev", TRACEFS])
            os.mkdir(self.path)
            self.write("tracing_on", 0)
            # Without a common clock the streams of two CPUs cannot be put in order.
            self.write("trace_clock", "mono")
            self.write("buffer_size_kb", self.kilobytes)
            for event in EVENTS:
                self.write(f"events/sched/sched_{event}/enable", 1)
            self.write("tracing_on", 1)
        except OSError as error:
            self.__exit__()
            raise Refused(f"no tracefs instance ({error})") from error
        return self

    def write(self, name, value):
        with open(os.path.join(self.path, name), "w", encoding="ascii") as file:
            file.write(str(value))

    def stop(self):
        self.write("tracing_on", 0)

    def extract(self, to):
        """Every page unchanged; trace-cmd then removes the instance."""
        quiet(["trace-cmd", "extract", "-B", self.name, "-o", to])

    def __exit__(self, *_):
        try:
            os.rmdir(self.path)
        except OSError:
            pass  # gone, or never there
