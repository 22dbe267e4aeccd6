"""The command line's entry: which commands there are, and which exit code each way out has.

Commands are imported when they are called, so that ``ftplan --help`` starts as fast as click allows.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

try:
    import click
except ImportError as error:
    sys.exit(f"ftplan: click cannot be loaded: {error}; pip install --force-reinstall ftplan")

from ftplan import __version__
from ftplan.cli import leaving
from ftplan.cli.environment import apply_configuration, warn_of_unknown_variables
from ftplan.cli.lazy_group import LazyGroup
from ftplan.cli.options import SETTINGS
from ftplan.cli.streams import keep_stdout, open_streams, silence_stdout
from ftplan.errors import FtplanError, OutputError, shortened, without_credentials
from ftplan.io.inputs_read import inputs_kept
from ftplan.model.kinds import ROWS
from ftplan.model.machine_limits import GB, address_space_bytes

#: Command, module, what the list of commands says of it. In the order in which a newcomer needs them.
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("ftplan.cli.init", "Write starter files: topology, cluster, ftplan.toml."),
    "check": ("ftplan.cli.check", "Validate input files."),
    "collect": ("ftplan.cli.collect", "Save what an engine's REST endpoint answers over time."),
    "compute-stats": ("ftplan.cli.compute_stats", "Compute statistics from logs with PySpark."),
    "stats-summary": ("ftplan.cli.stats_summary", "Show what a statistics folder says."),
    "import-topology": ("ftplan.cli.import_topology", "Import a job and its hosts from an engine."),
    "generate": ("ftplan.cli.generate", "Make topologies, clusters, statistics, failures at random."),
    **{row.name: ("ftplan.cli.planning", row.help) for row in ROWS},
    "checkpoint-interval": ("ftplan.cli.checkpoint_interval", "Find the interval that loses least time."),
    "calibrate": ("ftplan.cli.calibrate", "Fit what a recovery costs to measured recoveries."),
    "what-if": ("ftplan.cli.what_if", "Plan or evaluate under many changed inputs, on all cores."),
    "simulate": ("ftplan.cli.simulate", "See recoveries and migrations happen, or what a failure leaves."),
    "evaluate": ("ftplan.cli.evaluate", "Score a plan, also under failures or on other statistics."),
    "verify": ("ftplan.cli.verify", "Hold a plan to its rules and to its inputs."),
    "explain": ("ftplan.cli.explain", "Say why a plan decided as it did."),
    "diff": ("ftplan.cli.diff", "Show what changes from one plan to another."),
    "export-plan": ("ftplan.cli.export_plan", "Write a plan in the words of an engine."),
    "report": ("ftplan.cli.report", "Put plans onto one HTML page, for people."),
    "algorithms": ("ftplan.cli.algorithms", "List the planners, or the metrics."),
    "schema": ("ftplan.cli.schema", "Print the JSON Schema of a kind of file."),
    "doctor": ("ftplan.cli.doctor", "Say what is installed and what works here."),
}

#: GiB of address space with less of which numeric libraries end the process while they are loaded.
LEAST_ADDRESS_SPACE_GB = 0.25
#: What packages say where memory, address space or threads ran out, when it is no MemoryError that they raise.
_OUT_OF_MEMORY = re.compile(
    r"failed to map segment|cannot allocate memory|can't start new thread|MemoryError|bad_alloc|malloc of size",
    re.IGNORECASE,
)

EXIT_INTERNAL = 70
EXIT_OUTPUT = 74
EXIT_INTERRUPTED = 130
EXIT_PIPE = 141
EXIT_TERMINATED = 143


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    unknown="unknown command {name}{near}; see ftplan --help",
    context_settings=SETTINGS,
)
@click.version_option(__version__, prog_name="ftplan", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Plan the recovery of stream-processing jobs: checkpoints, replicas, recoveries, with proven bounds.

    Inputs come from flags, FTPLAN_* variables or ftplan.toml in the working folder or its parents, in this order.
    Standard output carries the answer only: JSON in a pipe, a table on a terminal.
    """
    if ctx.invoked_subcommand == "doctor":  # it tells of both, also where they keep every other command from working
        return
    limit = address_space_bytes()
    if limit is not None and limit < LEAST_ADDRESS_SPACE_GB * GB:
        raise FtplanError(_out_of_memory("too little to start with"))
    apply_configuration(ctx)
    warn_of_unknown_variables(ctx)


def _line(text: str) -> None:
    click.echo(f"ftplan: {shortened(text)}", err=True)


def _debug(args: Sequence[str]) -> bool:
    return "--debug" in args or os.environ.get("FTPLAN_DEBUG", "") not in ("", "0", "false")


def run(args: Sequence[str]) -> int:
    """Run one command line and return its exit code; never raises.

    0 answered, 1 the answer is no, 2 the user's mistake or too little memory, 3 ``--detailed-exitcode`` and it changes
    something, 70 a fault of ftplan or of a package, 74 the disk or pipe failed, 130 interrupted, 141 the reader of the
    pipe went away.
    """
    try:
        code = _invoke(args)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.ClickException as error:
        _trace(args)
        _line(_place(error) + error.format_message())
        return 2
    except FtplanError as error:
        _trace(args)
        shortage = _shortage(error.__cause__ or error.__context__) if address_space_bytes() is not None else None
        for message in [_out_of_memory(shortage)] if shortage else error.messages:
            _line(message)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        _trace(args)
        _line("interrupted")
        return EXIT_INTERRUPTED
    except SystemExit as left:  # SIGTERM while an engine of compute-stats ran; it is stopped by now
        if left.code != EXIT_TERMINATED:
            raise
        _line("interrupted")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        silence_stdout()
        return EXIT_PIPE
    except Exception as error:
        _trace(args)
        if shortage := _shortage(error):
            _line(_out_of_memory(shortage))
            return FtplanError.exit_code
        if not isinstance(error, OSError):
            _line(str(FtplanError(f"{_fault(error)} (--debug shows the trace)")))
            return EXIT_INTERNAL
        if error.errno in (errno.ENAMETOOLONG, errno.ELOOP):  # a mistake in a name, whatever was to be done with it
            _line(f"{error.filename}: {error.strerror}")
            return FtplanError.exit_code
        _line(f"could not read or write: {error}")
        silence_stdout()
        return EXIT_OUTPUT
    return code


def _invoke(args: Sequence[str]) -> int:
    try:
        with inputs_kept(), cli.make_context("ftplan", list(args), obj={"args": list(args)}) as context:
            code = cli.invoke(context)
    except click.exceptions.Exit as left:
        return left.exit_code
    except (OutputError, BrokenPipeError):
        raise
    except Exception as error:
        if leaving.came:  # what met the interrupt took it for something else, such as a wrong value
            raise KeyboardInterrupt from error
        raise
    return code if isinstance(code, int) else 0


def _shortage(error: BaseException | None) -> str | None:
    """Return what ran out of memory, of an exception or of what caused it; None where nothing did."""
    while error is not None:
        text = str(error)
        unsaid = isinstance(error, SystemError) and address_space_bytes() is not None  # of C that forgot to say why
        if unsaid or isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
            return text or type(error).__name__
        if found := _OUT_OF_MEMORY.search(text):
            return text if len(text) < 200 else found[0]
        error = error.__cause__ or error.__context__
    return None


def _out_of_memory(shortage: str) -> str:
    limit = address_space_bytes()
    if limit is None:
        return f"memory ran out ({shortage}): give the machine or container more of it, or the command smaller inputs"
    limited = f"the address space is limited to {limit / GB:.2g} GiB"
    return f"memory ran out ({shortage}): {limited}; lift the limit (ulimit -v unlimited)"


def _fault(error: Exception) -> str:
    if isinstance(error, ImportError) and not (error.name or "").startswith("ftplan"):
        return f"a package cannot be loaded: {error}; ftplan doctor says what works here"
    return f"a fault of ftplan, not yours: {type(error).__name__}: {error}"


def _place(error: click.ClickException) -> str:
    """Return the command in which a usage error occurred, as the start of the line."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path.removeprefix("ftplan").strip() if context else ""
    return f"{path}: " if path else ""


def _trace(args: Sequence[str]) -> None:
    """Print the trace of the exception at hand, if it was asked for."""
    if _debug(args):
        click.echo(without_credentials(traceback.format_exc()), err=True, nl=False)


def main() -> NoReturn:
    """Run the command line of this process and leave with its exit code."""
    if "_FTPLAN_COMPLETE" in os.environ:
        cli.main(prog_name="ftplan")
    try:
        leaving.listen()
        open_streams()
        keep_stdout()
        code = run(sys.argv[1:])
        compiled = sys.modules.get("ftplan.compiled")
        if compiled is not None and compiled.WANTED and code not in (EXIT_INTERRUPTED, EXIT_PIPE):
            from ftplan.api.compiling import compile_wanted

            compile_wanted()
    except KeyboardInterrupt:
        _line("interrupted")
        code = EXIT_INTERRUPTED
    for name in ("ftplan.planners.interrupts", "ftplan.spark_stats.session"):
        module = sys.modules.get(name)
        if module is not None and module.left_running():
            leaving.leave(code, tidy=False)
    if code == EXIT_INTERRUPTED:
        leaving.leave(code)
    sys.exit(code)


if __name__ == "__main__":
    main()
