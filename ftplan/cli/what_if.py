"""``ftplan what-if``."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from ftplan.cli import options
from ftplan.cli.progress import progress
from ftplan.cli.render import check_outputs, emit, emit_answer, say, warn
from ftplan.model.kinds import RECOVERY_SCHEDULE
from ftplan.reports.answer import Answer, Table

if TYPE_CHECKING:
    from ftplan.what_if.cases import WhatIfCases
    from ftplan.what_if.journal import Journal
    from ftplan.what_if.result import WhatIfResult
    from ftplan.what_if.runner import CaseRows, Execution

#: Rows that a table shows, and characters of a cell.
SHOWN, LONGEST = 30, 80

carrying_out = options.together(
    click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Processes.  [default: one a core]"),
    click.option(
        "--master",
        metavar="URL",
        help="Carry the cases out on Spark executors instead: local[*], spark://…, yarn, k8s://…, sc://….",
    ),
    click.option("--engine", type=click.Choice(["spark", "sail"]), help="The engine for that, where --master is not."),
    click.option(
        "--time-limit",
        type=options.DURATION,
        metavar="TIME",
        help="Stop the whole sweep after this time; the search of a case has its limit in the file.",
    ),
    click.option("--restart", is_flag=True, help="Begin anew, whatever OUTPUT.partial.jsonl says is done."),
    click.option("--dry-run", is_flag=True, help="List the cases; carry none out."),
)

answering = options.together(
    click.option(
        "--pareto", metavar="A,B", help="Show the cases that none beats in one measure and equals in the other."
    ),
    click.option(
        "--fail-under",
        multiple=True,
        metavar="MEASURE=VALUE",
        help="Exit 1 when a case is worse than this: below it where high is good, above it where low is; repeatable.",
    ),
    click.option("--plans", metavar="DIR", help="Write the plan of each case into this folder."),
    click.option("--plot", metavar="FILE", help="Draw a measure over one or two swept fields, as .svg or .png."),
    click.option("--plot-measure", metavar="MEASURE", help="What is drawn.  [default: the first measure]"),
    click.option(
        "--plot-over", metavar="A[,B]", help="Over what.  [default: the first one or two fields with several values]"
    ),
)


@options.command("what-if")
@click.argument("file", metavar="FILE")
@options.together(options.topology, options.cluster, options.stats, options.failure, options.spread)
@carrying_out
@answering
@click.option(
    "-o",
    "--output",
    default="-",
    metavar="FILE",
    help="Write rows here, by its ending .json, .csv or .parquet; - is standard output.",
)
@click.option("--force", is_flag=True, help="Overwrite existing outputs.")
@options.form
@options.verbosity
def command(file: str, **given: Any) -> int:
    """Ask one question under many changed inputs: one row a case, beside the case that changes nothing.

    FILE (format ftplan/what-if) names the inputs, the command, the cases and what is measured; inputs that are given
    here win over its own. Cases run on all cores; with -o FILE the same command goes on where it was stopped, even by
    kill -9.

    \b
    # spare-nodes.yaml: how many spare nodes until all is back within 5 minutes?
    format: ftplan/what-if
    format_version: "1.0"
    inputs: {topology: topology.yaml, cluster: cluster.yaml}
    run:
      command: QUESTION          # any that plans, or evaluate with a plan
      fail: zone:rack-a                   # of the base, which is the first row
      options: {max-cpu: 0.8}
    measures: [last-back-s, queries-back-share, objective]
    cases:                                # one by one
      - {id: twice-the-load, traffic: 2}
      - {id: smaller-nodes, scale: {"node:*": {cpu: 0.5}}}
    grid:                                 # every combination
      - fail: each zone
      - name: spares
        add: {count: [0, 1, 2], id: spare, node: {cpu: 4}, zones: all}

    \b
    $ ftplan what-if spare-nodes.yaml -o rows.csv
    """
    from ftplan.cli.inputs import inputs_asked
    from ftplan.what_if.case_file import load_cases
    from ftplan.what_if.plot import plot_request, write_plot
    from ftplan.what_if.result import WhatIfResult, form_of
    from ftplan.what_if.runner import Execution
    from ftplan.what_if.summary import summary_request

    form = form_of(given["output"])
    check_outputs(given)
    execution = Execution(given["jobs"], given["engine"], given["master"], given["time_limit"])
    sweep = load_cases(file, spread=given["spread"], **inputs_asked(given))
    asked = summary_request(sweep, given["pareto"], given["fail_under"])
    plot = None
    if given["plot"] is not None:
        plot = plot_request(sweep, given["plot"], given["plot_measure"], given["plot_over"], given["force"])
    if given["dry_run"]:
        return _listed(sweep, given)
    with ExitStack() as stack:
        journal = _journal(sweep, given)
        if journal is not None:
            stack.callback(journal.close)
        rows = _carried_out(sweep, execution, journal, given)
        result = WhatIfResult(sweep, rows, asked)
        warn(result.warnings, quiet=given["quiet"])
        for item in result.together["assumptions"]:
            say(f"assumed: {item['text']} [{item['code']}]", quiet=given["quiet"])
        if result.missing and journal is not None:
            return _incomplete(result, journal)
        if plot is not None:
            write_plot(result, plot, given["force"])
        data = None if given["output"] == "-" or form == "json" else result.data(form)
        emit_answer(Answer(result.to_json(), tables(result), notes(result), data), given)
        if journal is not None:
            journal.remove()
    for line in result.unmet:
        say(line)
    if result.missing:
        return _incomplete(result, None)
    return 1 if result.unmet else 0


assert command.help is not None
command.help = command.help.replace("QUESTION", RECOVERY_SCHEDULE.name)


def _journal(sweep: WhatIfCases, given: dict[str, Any]) -> Journal | None:
    """Open the journal beside the output, and say what it has; None on standard output and on devices."""
    import os

    from ftplan.what_if.journal import Journal, journal_path

    output = given["output"]
    if output == "-" or (os.path.exists(output) and not os.path.isfile(output)):
        return None
    journal = Journal(journal_path(output), sweep.fingerprint, len(sweep), restart=given["restart"])
    if journal.done:
        text = f"continuing: {len(journal.done):,} of {len(sweep):,} cases are done"
        say(f"{text} (--restart begins anew)", quiet=given["quiet"])
    return journal


def _carried_out(sweep: WhatIfCases, execution: Execution, journal: Journal | None, given: dict[str, Any]) -> CaseRows:
    from ftplan.what_if.outcome import PlanFiles
    from ftplan.what_if.runner import answer_cases

    plans = None
    if given["plans"] is not None:
        going_on = journal is not None and bool(journal.done)
        plans = PlanFiles(given["plans"], sweep, force=given["force"] or going_on)
    try:
        with progress("carrying out cases", hidden=given["no_progress"] or given["quiet"]) as report:
            return answer_cases(sweep, execution, journal=journal, plans=plans, report=report)
    except BaseException:
        if journal is not None and journal.done:
            say(_how_to_go_on(journal, sweep))
        raise


def _how_to_go_on(journal: Journal, sweep: WhatIfCases) -> str:
    done = f"{len(journal.done):,} of {len(sweep):,} cases are done and kept in {journal.name}"
    return f"{done}: run the same command again to go on"


def _incomplete(result: WhatIfResult, journal: Journal | None) -> int:
    """Say what is missing when the time was over; an output file is not written before it is whole."""
    missing = result.missing
    text = (
        f"the time limit was over before {len(missing):,} of {len(result.cases):,} cases were done, first {missing[0]}"
    )
    say(text)
    if journal is not None:
        say(f"the output is not written yet; {_how_to_go_on(journal, result.cases)}")
    return 1


def _listed(sweep: WhatIfCases, given: dict[str, Any]) -> int:
    """List the cases without carrying any out."""
    from ftplan.model.plan import canonical_json

    cases = [sweep.case(number) for number in range(len(sweep))]
    document = [{"case": case.id, "values": case.values, "deltas": case.deltas} for case in cases]
    table = Table(
        ("case", *sweep.swept, "changes"),
        [(case.id, *(case.values.get(name) for name in sweep.swept), _changes(case.deltas)) for case in cases],
        f"{len(cases):,} cases of {sweep.command}",
    )
    emit(Answer(canonical_json({"command": sweep.command, "cases": document}), [table]), form=given["format"])
    return 0


def _changes(deltas: Any) -> str:
    """Return what a case changes, in the words of the file, cut to what a table can show."""
    import json

    text = ", ".join(f"{name} {json.dumps(value, ensure_ascii=False, default=str)}" for name, value in deltas.items())
    text = text.replace('"', "")
    return text if len(text) <= 120 else f"{text[:119]}…"


def tables(result: WhatIfResult) -> list[Table]:
    """Return the rows, as many as can be looked at, and the summary."""
    names = _shown(result)
    whole = {"case", *result.cases.swept}  # what tells the rows apart
    cells = [[row[name] if name in whole else _brief(row[name]) for name in names] for row in result.rows.rows[:SHOWN]]
    made = [Table(names, cells, result.cases.name)]
    said = result.summary
    ends = [(word, said[word]["case"], said[word]["value"]) for word in ("best", "worst") if said[word]]
    if ends:
        made.append(Table(("", "case", said["measure"]), ends))
    if said["pareto"]:
        names, cases = said["pareto"]["measures"], said["pareto"]["cases"]
        made.append(Table(("case", *names), [(case["case"], *case["values"]) for case in cases], "Pareto front"))
    if len(result.rows.rows) > 2 and said["quantiles"]:
        names = list(said["quantiles"][0])
        made.append(Table(names, [[figures[name] for name in names] for figures in said["quantiles"]]))
    return made


def _shown(result: WhatIfResult) -> list[str]:
    """Return the columns that a table has room for: without algorithm, sense, reason where all are the same."""
    rows = result.rows.rows
    same = {name for name in ("algorithm", "sense", "reason") if len({row.get(name) for row in rows} - {None}) < 2}
    same -= {"reason"} if any(row["reason"] for row in rows) else set()
    return [column.name for column in result.cases.columns if column.name not in same]


def _brief(value: Any) -> Any:
    """Cut long text, which files have whole."""
    return f"{value[: LONGEST - 1]}…" if isinstance(value, str) and len(value) > LONGEST else value


def notes(result: WhatIfResult) -> list[str]:
    """Return how many rows the table leaves out, how many have no value, and how many cases failed."""
    left, failed = len(result.rows.rows) - SHOWN, result.summary["failed"]
    lines = [f"{left:,} more rows: -o FILE writes them all"] if left > 0 else []
    measure, rows = result.summary["measure"], result.rows.rows
    empty = [row for row in rows if row[measure] is None and row["status"] != "error"] if measure else []
    if empty:
        text = f"{len(empty):,} of {len(rows):,} rows have no {measure}, first {empty[0]['case']}"
        lines.append(f"{text}: best, worst and quantiles are over the others")
    if failed:
        first = next(row for row in result.rows.rows if row["status"] == "error")
        lines.append(f"{failed:,} of {len(result.cases):,} cases failed, first {first['case']}: {first['reason']}")
    return lines
