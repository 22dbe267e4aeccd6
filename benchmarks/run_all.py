"""Runs every benchmark and writes RESULTS.md: each table with the command that made it.

Run: ``python benchmarks/run_all.py [NAME ...]`` (``make bench`` runs all); names are those of the sections below. A
section that is not run keeps the table that RESULTS.md has.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "RESULTS.md"

#: Name, title, script with arguments, and what to know when reading the table.
SECTIONS: tuple[tuple[str, str, tuple[str, ...], str], ...] = (
    (
        "exact-allocation",
        "Exact checkpoint allocation",
        ("exact_allocation.py",),
        "Madsen & Zhou 2015 stopped an exhaustive search for 7 checkpoints on 20 nodes after 1.5 hours; "
        "the figure to reach is a proven optimum in less than a second.",
    ),
    (
        "simulation",
        "Simulated recoveries",
        ("simulation.py",),
        "To reach: ten minutes of the fifteen queries in at most 20 s, and 100 recoveries of the storm "
        "example on two cores in at most 60 s. Cold is the first command of all on a machine: it compiles the loop.",
    ),
    (
        "compute-stats",
        "Statistics from logs",
        ("compute_stats.py",),
        "Whole commands on plain logs, two keys, windows of an hour, on two cores: the Houston flights repeated, "
        "three of every thousand rows damaged. Peers check times and keys as far as SQL allows and count the same; "
        "start is the same command on ten rows, and memory that of all its processes. To reach: a gigabyte of CSV in "
        "at most 3 × DuckDB's time and at 80 MB a second on Sail, and in at most 1.7 × plain PySpark's and at 30 MB a "
        "second after the start on Spark; JSON lines and regular expressions at 40 MB a second on Sail; gzip as fast "
        "as it is unpacked; the Houston log as it is in at most 2 s on Sail and 12 s on Spark; at most 2 GB of "
        "memory; at most 20 % longer a byte in the larger log.",
    ),
    (
        "compute-stats-cluster",
        "What statistics shuffle",
        ("compute_stats_cluster.py",),
        "The Houston log repeated, so that each part of it holds all windows: the worst case of a shuffle. Totals of "
        "all tasks, and the memory of the task that takes most. The statistics are the same to the byte.",
    ),
    (
        "event-log",
        "Spark event logs",
        ("event_log.py", "--mb", "1000"),
        "The log of examples/spark repeated with shifted batches, as one plain file, on two cores, from the start of "
        "the command to its end. To reach: 30 MB a second.",
    ),
    (
        "large-inputs",
        "Large inputs",
        ("large_inputs.py",),
        "To reach: 10,000 operators with 200,000 edges in at most 5 s from JSON and 20 s from YAML.",
    ),
    (
        "import-plan",
        "Imports of Flink plans",
        ("import_plan.py",),
        "To reach: a plan of 10,000 vertices in at most 5 s, as a whole command, YAML written.",
    ),
    (
        "unseen-time",
        "Usable copies on unseen time",
        ("unseen_time.py",),
        "Share of copies that could be used when the primary's node is overloaded, on the part of the trace that the "
        "plan has not seen. Madsen & Zhou (CIKM 2015, figure 8) report 2 to 3 times that of even and random "
        "checkpoints, without a balance rule, for jobs whose operators are correlated by construction.",
    ),
    (
        "adaptation-unseen",
        "Adaptation on unseen time",
        ("adaptation_unseen.py",),
        "The same logs with the moves that follow: an adaptation takes key groups away from overloaded nodes window by "
        "window, on the part that no allocation has seen, and checkpoints follow. Without preferring hosts of copies "
        "all allocations see the same moves; what differs is how many of them a checkpoint assists.",
    ),
    (
        "rebalance",
        "Rebalances at scale",
        ("rebalance.py",),
        "To reach: adaptive on 32,768 key groups × 400 nodes in at most 10 s, the command included, and exact on "
        "1,024 × 50 with a gap of at most 1 % in 30 s.",
    ),
    (
        "scale-out-at-scale",
        "Scale-outs at scale",
        ("scale_out_at_scale.py",),
        "To reach: the whole command in about 10 s. Free cores of the 400 nodes do for a part of what the 50 operators "
        "lack; the other sizes have no cluster. DS2 and twice the tasks get the bound of exact.",
    ),
    (
        "ring-balance",
        "Largest load on rings",
        ("ring_balance.py",),
        "To reach: proven optimal with equal nodes, and the whole command with 1,000 nodes and 32,768 key groups in at "
        "most 5 s. uhashring owns the other way round; loads compare all the same.",
    ),
    (
        "ring-growth",
        "Bytes that travel when a ring grows",
        ("ring_growth.py",),
        "To reach: at most 1.1 times the least possible bytes for the same target load. Few nodes are held to every "
        "order of the nodes, many to the bound of any order: where that ratio is above 1.1 the target is not shown to "
        "be reached.",
    ),
    (
        "ring-tiers",
        "Copies on a tier of their own",
        ("ring_tiers.py",),
        "Whether `--tier` helps. Cidon et al. (ATC 2015) put the third copy on machines that fail independently of the "
        "others, and state a mean time to a loss 20,000 times that of random replication and 20 times that of the best "
        "scheme before. Here a tier lasts as many times longer than neighbours in different zones as its nodes and "
        "zones fail less often, and loses as many times fewer bytes. A tier that fails as often as the workers helps "
        "nothing: it loses as many bytes on average, and where zones fail it loses something up to 1.6 times as often. "
        "What is gained beside virtual nodes, which do not know zones, is mostly due to the order of zones.",
    ),
    (
        "allocation-at-scale",
        "Checkpoint allocation at scale",
        ("allocation_at_scale.py",),
        "Both objectives; usable, the default, counts windows. Raw CP-SAT and raw HiGHS solve the same model in the "
        "same run with the same time limit.",
    ),
    (
        "ceph-peer",
        "Beside Ceph's balancer",
        ("ceph_peer.py",),
        "Ceph evens out numbers of equal groups, without costs.",
    ),
    (
        "recovery-figure-16",
        "One recovery step: figure 16",
        ("recovery_figure_16.py",),
        "Su & Zhou (technical report, figure 16) plan 18 queries optimally by dynamic programming, best density "
        "approximates that, and operator-centric recovery is worst. Plot: `figures/recovery-figure-16.svg`.",
    ),
    (
        "recovery-priority-time",
        "Priority × time over 20 arrivals",
        (
            "recovery_priority_time.py",
            "--queries",
            "50",
            "500",
            "--lanes",
            "0",
            "1",
            "--seeds",
            "1",
            "--time-limit",
            "10",
        ),
        "To reach: never worse than the step-by-step plan of the same one-step solver; the gain is stated; a gap of "
        "output fidelity of at most 10 %.",
    ),
    (
        "whole-repair",
        "The whole repair: restores, lanes, later failures",
        ("whole_repair.py", "--lanes", "0"),
        "To reach: on the storm example as it is a gap of at most 5 % in 20 s; over 20 arrivals a mean gap of at most "
        "2 % for 50, 500 and 5,000 queries.",
    ),
    (
        "whole-repair-storm",
        "The whole repair on production topologies, beside PyJobShop",
        ("whole_repair_storm.py", "--all", "--time-limit", "12"),
        "A rack lost and ten arrivals, with state to fetch, 12 s each. PyJobShop is asked the same question in the "
        "same time, on one core as ftplan is; building its model is not counted. It cannot be told of later failures "
        "nor of what takes longer to catch up the longer it was down: here is none. The topologies are not part of the "
        "project: FTPLAN_STORM_TOPOLOGIES names their folder.",
    ),
    (
        "bursts",
        "What real bursts of failures cost",
        ("bursts.py", "--draws", "200"),
        "Bursts of Alibaba's SSD failure log, drawn 200 times: later failures strike while the repair is under way, "
        "which no algorithm foresees, so that a plan that is better for what is known may turn out worse for what "
        "comes. The bound knows them.",
    ),
    (
        "recovery-sparse",
        "One recovery step, sparse",
        ("recovery_sparse.py",),
        "To reach: a gap of at most 1 % in 30 s, and 10,000 queries over 50,000 tasks with a bound in 30 s and 4 GB. "
        "HiGHS alone solves the same model in the same run with the same time limit.",
    ),
    (
        "recovery-storm",
        "One recovery step on production topologies",
        ("recovery_storm.py",),
        "To reach: a proof of optimality within 10 s on at least 90 %. The topologies are not part of the project; "
        "FTPLAN_STORM_TOPOLOGIES names their folder.",
    ),
    (
        "sukp",
        "One recovery step beside published set-union knapsacks",
        ("sukp.py", "--cp-sat-seconds", "1"),
        "To reach: the best published value in all runs. Instances are not part of the project: FTPLAN_SUKP names "
        "their folder.",
    ),
    (
        "replication-figure-13",
        "Replicas for two queries: figure 13",
        ("replication_figure_13.py",),
        "Su & Zhou (ICDE 2016, figure 13) find structure-aware close to the optimum and greedy below both.",
    ),
    (
        "replication-figure-14",
        "Replicas on random topologies: figure 14",
        ("replication_figure_14.py",),
        "Su & Zhou (ICDE 2016, figure 14) compare greedy and structure-aware and could not compute the optimum. To "
        "reach: proven on 95 % within 10 s each. Plot: `figures/replication-figure-14-optimum.svg`.",
    ),
    (
        "tentative-output",
        "What queries keep without the tasks that have no replica: figures 12 and 13",
        ("tentative_output.py",),
        "Su & Zhou (ICDE 2016, figures 12 and 13) find that output fidelity foretells the accuracy of both queries, "
        "and internal completeness that of the one without a join only. Plot: `figures/figure-12-13.svg`.",
    ),
    (
        "reproduce",
        "The papers' figures and claims",
        ("reproduce",),
        "How many claims hold of each figure that is made again; why, and by which rule, is in "
        "[REPRODUCED.md](REPRODUCED.md).",
    ),
    (
        "replication-at-scale",
        "Replicas at scale",
        ("replication_at_scale.py",),
        "To reach: structure-aware on 100,000 tasks, a tenth of them replicated, in at most 30 s and 4 GiB.",
    ),
    (
        "replication-then-recover",
        "Replicas for the outage and for the recovery after it",
        ("replication_then_recover.py",),
        "How far the best sets of the two objectives differ. Restores and replicas take the same cores: a replica "
        "saves the time of a restore, and where cores are what is lacking it saves nothing.",
    ),
    (
        "replication-storm",
        "Active replicas on production topologies",
        ("replication_storm.py",),
        "To reach: in-trees proven optimal in at most 2 s each; elsewhere a median gap of 0.5 %, at most 5 %, in 60 s; "
        "100 budgets in at most 5 × the time of one. The topologies are not part of the project: "
        "FTPLAN_STORM_TOPOLOGIES names their folder.",
    ),
    (
        "replication-curve",
        "The fidelity of every budget",
        ("replication_curve.py",),
        "To reach: 100 budgets in at most 5 × the time of one, by greedy, structure-aware, and exact on in-trees.",
    ),
    (
        "replication-structured",
        "Active replicas on structured topologies",
        ("replication_structured.py",),
        "To reach: a gap of at most 0.1 % in 30 s. CP-SAT solves the same program in the same run.",
    ),
    (
        "joint-replication-check",
        "Replicas in small clusters beside brute force",
        ("joint_replication_check.py",),
        "To reach: nothing wrong in 2,000 random cases.",
    ),
    (
        "replication-joint",
        "Active replicas in clusters",
        ("replication_joint.py",),
        "Choice and placement as one problem. To reach: exact proven or with a gap of at most 1 % on 80 % in 60 s and "
        "never below the plain program in the same time; structure-aware within 3 % of the best known on every one in "
        "10 s. The topologies are not part of the project: FTPLAN_STORM_TOPOLOGIES names their folder.",
    ),
    (
        "replication-joint-scale",
        "Active replicas in a cluster of 1,000 nodes",
        ("replication_joint_scale.py",),
        "To reach: structure-aware on 100,000 tasks in at most 60 s.",
    ),
    (
        "drain",
        "Drain schedules",
        ("drain.py",),
        "To reach: 400 nodes with 32,768 key groups and two copies each in 21 zones proven optimal, or a gap of "
        "at most one round, in 60 s. The Storm topologies are not part of the project: FTPLAN_STORM_TOPOLOGIES names "
        "their folder.",
    ),
    (
        "calibration",
        "Recovery costs from measured recoveries",
        ("calibration.py",),
        "To reach: a median error of at most 6 % with one rate held out, and recoveries in the curves within 10 % of "
        "the table. The curves are not part of the project: FTPLAN_RECOVERIES names their folder; without it one of "
        "five stands in.",
    ),
    (
        "against-reality",
        "Simulated beside measured recoveries",
        ("against_reality.py",),
        "To reach: on the half of the recoveries of Khaos that nothing was fitted on a median error of at most 8 % "
        "of the recovery time and 15 % of the peak lag. Fitted to times alone, as `ftplan calibrate` does, the "
        "stop takes in what is not one: the metrics of that job are scraped every 30 s, and it runs at half its "
        "pace in the first minute after a restart, which its throughput shows too. Its lag is that of one of about "
        "a dozen partitions. Where the lag is off most, a job had gone on from a younger or older checkpoint than "
        "the share says. The drill's curves have one point a second, of recoveries of 4 to 15 s. The curves of "
        "Khaos are not part of the project: FTPLAN_RECOVERIES names their folder; without it one of five stands "
        "in.",
    ),
    (
        "overloads-ahead",
        "Overloads announced in time",
        ("overloads_ahead.py",),
        "Capacities are such that 5 % of the windows of two real loads overload an operator. Which alarms are on in "
        "time for a backup to be set up, how often they are false, and what backups cost while they are on. What can "
        "be learnt is learnt on the part before. The Wikipedia log is one day: there is no yesterday.",
    ),
    (
        "forecasts-unseen",
        "Forecasts on unseen time",
        ("forecasts_unseen.py",),
        "Chosen and fitted on the first half of each curve, judged on the second. Which methods auto has to choose "
        "from was decided with these curves in view, so that others may do a little worse. The curves of five minutes "
        "are not part of the project: FTPLAN_LOAD_CURVES names their folder.",
    ),
    (
        "autoscaling",
        "Policies of rescaling beside measured autoscalers",
        ("autoscaling.py",),
        "To reach: fewer core-hours and less time behind than the autoscaler of the Flink operator, on a day that the "
        "policy was not chosen on. Of each history the policy in bold is the one that is chosen. The days of the "
        "measured load are alike; policies chosen on another stream say what a strange load does. Capacity is one "
        "standard deviation below the fit, and 0.6 of that in a second table. Behind is measured, and simulated: the "
        "simulation has what rescales and failures left behind in the median, so that it is below what was measured, "
        "most of all for the operator. The offline optimum gives up whole windows, as it may. Neither the runs nor the "
        "streams are part of the project: FTPLAN_AUTOSCALERS and FTPLAN_LOAD_CURVES name their folders.",
    ),
    (
        "time-limits",
        "Time limits and interrupts",
        ("time_limits.py",),
        "To reach: `plan`, all that is neither starting, reading nor writing, at most 2 s above the limit; an "
        "interrupt ends a command within 2 s with exit code 130.",
    ),
    (
        "flink-drill",
        "Recoveries of a real Flink job",
        ("flink_drill.py",),
        "Task managers of a job on one machine are killed at random moments, at three rates and two checkpoint "
        "intervals. Costs are fitted on every other kill; the rest is predicted, and stated as it is. FLINK_PYTHON "
        "names an environment with apache-flink, else that of `make test-flink` is taken.",
    ),
    (
        "report",
        "The page of a plan of 5,000 tasks",
        ("report.py",),
        "To reach: the command in at most 5 s, the page at most 2 MB. Half of the nodes fail, or all restart.",
    ),
    ("startup", "Start of the command line", ("startup.py",), "To reach: at most 4 × the time of importing click."),
    (
        "what-if",
        "What-if sweeps",
        ("what_if.py",),
        "To reach: on 2 cores 2 processes at least 1.6 × the rate of one, and at least 20 × that of separate commands.",
    ),
    (
        "size-of-inputs",
        "Time and memory by size of inputs",
        ("size_of_inputs.py",),
        "Whole commands; each size is ten times the one before. To reach: time linear within 20 %, memory that does "
        "not grow with what is collected.\nPrometheus is a server in Python on the same cores.",
    ),
    (
        "cold-start",
        "Small commands on a cold and a warm machine",
        ("cold_start.py",),
        "Cold is an empty cache of compiled functions, as in CI. With five seconds nothing is compiled; what is not "
        "proven by then\nsearches until the limit.",
    ),
)


def machine() -> str:
    """Return what the figures were measured on."""
    gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores, {gib:.0f} GiB, {platform.system()}, Python {platform.python_version()}"


def main() -> None:
    asked = sys.argv[1:] or [name for name, *_ in SECTIONS]
    unknown = set(asked) - {name for name, *_ in SECTIONS}
    if unknown:
        sys.exit(f"unknown section {', '.join(sorted(unknown))}: one of {', '.join(name for name, *_ in SECTIONS)}")
    old = RESULTS.read_text() if RESULTS.exists() else ""
    parts = [
        "# Results\n\nWritten by `python benchmarks/run_all.py`. Absolute seconds are orientation: the machines are "
        "shared and noisy; ratios were taken in one run.\n"
    ]
    for name, title, command, about in SECTIONS:
        heading = f"## {title}"
        if name in asked:
            print(f"{name} ...", file=sys.stderr, flush=True)
            done = subprocess.run(
                [sys.executable, str(HERE / command[0]), *command[1:]], stdout=subprocess.PIPE, text=True, check=True
            )
            stamp = f"{datetime.now(UTC):%Y-%m-%d}, {machine()}"
            shown = " ".join(("python", f"benchmarks/{command[0]}", *command[1:]))
            parts.append(f"{heading}\n\n{about}\n\n`{shown}` ({stamp})\n\n{done.stdout.strip()}\n")
        elif found := re.search(rf"^{re.escape(heading)}\n.*?(?=^## |\Z)", old, flags=re.DOTALL | re.MULTILINE):
            parts.append(found[0].rstrip() + "\n")
    RESULTS.write_text("\n".join(parts))


if __name__ == "__main__":
    main()
