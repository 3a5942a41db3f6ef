"""One run of SimSo on a set of periodic tasks: JSON on the last line. Runs in SimSo's own venv.

    simso_peer.py CLASS CPUS MS PERIOD:WORK,...      times of tasks in us
"""

import contextlib
import io
import json
import sys
import time

from simso.configuration import Configuration
from simso.core import Model


def main():
    scheduler, cpus, ms, tasks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    config = Configuration()
    config.cycles_per_ms = 1000
    config.duration = ms * config.cycles_per_ms
    for number, task in enumerate(tasks.split(","), 1):
        period, work = (int(word) / 1000 for word in task.split(":"))
        config.add_task(name=f"t{number}", identifier=number, period=period, activation_date=0,
                        wcet=work, deadline=period, abort_on_miss=False)
    for number in range(1, cpus + 1):
        config.add_processor(name=f"c{number}", identifier=number)
    config.scheduler_info.clas = f"simso.schedulers.{scheduler}"
    config.check_all()
    model = Model(config)
    # Some of its schedulers print messages, which are not part of the simulation.
    with contextlib.redirect_stdout(io.StringIO()):
        wall, cpu = time.perf_counter(), time.process_time()
        model.run_model()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    each = (job for task in model.results.tasks.values() for job in task.jobs)
    jobs = sum(job.end_date is not None for job in each)
    print(json.dumps({"scheduler": f"SimSo {scheduler}", "cpus": cpus, "jobs": jobs, "seconds": wall,
                      "cpu_seconds": cpu, "jobs_per_second": jobs / cpu}))


if __name__ == "__main__":
    main()
