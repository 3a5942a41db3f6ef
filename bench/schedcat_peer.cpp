// The calls of bench/real-time to SchedCAT's C++ core, with the commands of `wastenot-bench`: bench/README.md.
//
//   schedcat_peer gedf CPUS MS FILE       JSON: jobs a second of CPU time
//   schedcat_peer tests TEST CPUS FILE    JSON: a test of every set

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tasks.h"
#include "schedulability.h"
#include "schedule_sim.h"
#include "edf/baker.h"
#include "edf/baruah.h"
#include "edf/bcl.h"
#include "edf/bcl_iterative.h"
#include "edf/ffdbf.h"
#include "edf/gfb.h"
#include "edf/load.h"
#include "edf/rta.h"

// One set per line, of PERIOD:WORK in us.
static std::vector<TaskSet> read(const char *path)
{
    std::ifstream file(path);
    std::vector<TaskSet> sets;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        TaskSet tasks;
        unsigned long period, work;
        for (char colon, comma; words >> period >> colon >> work; words >> comma)
            tasks.add_task(work, period);
        sets.push_back(tasks);
    }
    return sets;
}

static double cpu_seconds()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

// The outcome of the jobs that completed in time to be counted: SchedCAT takes one more step.
class Jobs : public GlobalScheduler<EarliestDeadlineFirst>
{
  public:
    unsigned long until, jobs = 0, late = 0, late_sum = 0, late_max = 0;

    Jobs(int cpus, unsigned long until) : GlobalScheduler(cpus), until(until) {}

    void job_completed(int, Job *job) override
    {
        unsigned long now = get_current_time(), due = job->get_deadline();
        if (now > until)
            return;
        unsigned long us = now > due ? now - due : 0;
        jobs++;
        late += us > 0;
        late_sum += us;
        late_max = std::max(late_max, us);
    }
};

static void gedf(int cpus, unsigned long until, std::vector<TaskSet> &sets)
{
    std::ostringstream seen;
    unsigned long jobs = 0;
    double begin = cpu_seconds();
    for (TaskSet &tasks : sets) {
        Jobs one(cpus, until);
        run_periodic_simulation(one, tasks, until);
        jobs += one.jobs;
        seen << (seen.tellp() > 0 ? ", " : "") << "[" << one.jobs << ", " << one.late << ", "
             << one.late_sum << ", " << one.late_max << "]";
    }
    double took = cpu_seconds() - begin;
    std::cout << "{\"jobs\": " << jobs << ", \"cpu_seconds\": " << took
              << ", \"jobs_per_second\": " << jobs / took << ", \"seen\": [" << seen.str() << "]}\n";
}

static std::unique_ptr<SchedulabilityTest> test_of(const std::string &name, unsigned cpus)
{
    typedef std::unique_ptr<SchedulabilityTest> Test;
    if (name == "gfb")
        return Test(new GFBGedf(cpus));
    if (name == "bak")
        return Test(new BakerGedf(cpus));
    if (name == "bcl")
        return Test(new BCLGedf(cpus));
    if (name == "bcli")
        return Test(new BCLIterativeGedf(cpus));
    if (name == "rta")
        return Test(new RTAGedf(cpus));
    if (name == "bar")
        return Test(new BaruahGedf(cpus));
    if (name == "ffdbf")
        return Test(new FFDBFGedf(cpus));
    if (name == "load")
        return Test(new LoadGedf(cpus));
    return nullptr;
}

static void tests(const std::string &name, unsigned cpus, std::vector<TaskSet> &sets)
{
    std::unique_ptr<SchedulabilityTest> test = test_of(name, cpus);
    if (!test)
        exit(2);
    std::string answers;
    double begin = cpu_seconds();
    for (TaskSet &tasks : sets)
        answers += test->is_schedulable(tasks) ? '1' : '0';
    double took = cpu_seconds() - begin;
    std::cout << "{\"test\": \"" << name << "\", \"sets\": " << sets.size() << ", \"answers\": \""
              << answers << "\", \"cpu_seconds\": " << took << "}\n";
}

int main(int count, char **words)
{
    if (count != 5)
        return 2;
    std::vector<TaskSet> sets = read(words[4]);
    if (words[1] == std::string("gedf"))
        gedf(atoi(words[2]), 1000 * strtoul(words[3], nullptr, 10), sets);
    else
        tests(words[2], atoi(words[3]), sets);
}
