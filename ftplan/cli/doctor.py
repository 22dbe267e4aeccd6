"""``ftplan doctor``."""

from __future__ import annotations

import sys
from typing import Any

import click

from ftplan.cli import options
from ftplan.cli.environment import known_variables, names_in_configuration
from ftplan.cli.render import check_outputs, emit_answer, say
from ftplan.reports.answer import Answer, Table


@options.command("doctor")
@click.option("--try/--no-try", "tried", default=True, help="Try each package and engine, not only name them.")
@click.option("--engines/--no-engines", default=True, help="Try Apache Spark and Sail too: they take seconds to start.")
@click.option(
    "--trial-limit", type=options.DURATION, default="120s", metavar="TIME", help="End a trial that takes longer."
)
@options.output
@options.verbosity
def command(tried: bool, engines: bool, trial_limit: float, **given: Any) -> int | None:
    """Say what is installed, what works here, and where settings come from.

    Tries each package and engine in a process of its own: one that is broken is a finding.
    Exit code 1 where something that planning needs does not work; what an extra would bring is not needed.

    Nothing secret is shown, so that the answer can stand in an issue: --format markdown is made for that. Of its own
    options none is read from ftplan.toml.

    \b
    $ ftplan doctor
    $ ftplan doctor --format markdown --output - | tee doctor.md
    $ ftplan doctor --no-engines --format json
    """
    import json

    from ftplan.api.doctor import examine

    check_outputs(given)
    group = click.get_current_context().find_root().command
    assert isinstance(group, click.Group)
    if tried and sys.stderr.isatty():
        say(f"trying packages{' and engines' if engines else ''}, each up to {trial_limit:g} s", quiet=given["quiet"])
    context = click.Context(group)
    named = [(name, group.get_command(context, name)) for name in group.list_commands(context)]
    commands = {name: names_in_configuration(command) for name, command in named if command is not None}
    found = examine(commands, known_variables(group), tried=tried, engines=engines, limit_s=trial_limit)
    text = json.dumps(found, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    form = given["format"] or ("table" if sys.stdout.isatty() else "json")
    if form == "table" and not _can_draw():
        given["format"] = "markdown"
    emit_answer(Answer(text, tables(found)), given)
    return None if found["works"] else 1


def _can_draw() -> bool:
    """Return whether tables can be drawn: rich may be what is broken."""
    try:
        import rich.console
        import rich.table  # noqa: F401
    except Exception:
        return False
    return True


def tables(found: dict[str, Any]) -> list[Table]:
    """Return what was found, as tables."""
    program, own = found["program"], found["machine"]
    untried = all(item["state"] != "works" for item in found["trials"])
    works = "not tried; nothing is missing" if found["works"] and untried else found["works"]
    verdict: list[tuple[str, Any]] = [("planning works here", works)]
    verdict += [("problem", text) for text in found["problems"]] + [("note", text) for text in found["notes"]]
    memory = (_gib(own["memory_available_bytes"]), _gib(own["memory_bytes"]), _gib(own["memory_of_cgroup_bytes"]))
    here = [
        ("ftplan", f"{program['ftplan']}, in {program['installed_in']}"),
        ("Python", f"{program['implementation']} {program['python']}, {program['executable']}"),
        ("platform", program["platform"]),
        ("Java", program["java"] or "none"),
        ("cores", _of(own["cores_usable"], own["cores"], own["cores_of_cgroup"], "")),
        ("memory", _of(*memory, " GiB free")),
        *((item["what"], _folder(item)) for item in found["folders"]),
    ]
    by_name = {item["name"]: item for item in found["trials"]}
    imported = [(by_name.pop(item["name"]), item) for item in found["packages"]]
    trials = [(t["name"], t["state"], t["detail"], t["seconds"], t["purpose"]) for t in by_name.values()]
    packages = [
        (item["name"], item["version"], trial["state"], trial["detail"], trial["seconds"], item["extra"] or "ftplan")
        for trial, item in imported
    ]
    settings = found["configuration"]
    source = [("ftplan.toml", settings["file"] or "none found")]
    if settings["file"]:
        source.append(("tables", "cannot be read" if settings["error"] else ", ".join(settings["tables"]) or "none"))
    source += [(item["name"], item["value"]) for item in settings["variables"]]
    return [
        Table(("ftplan doctor", ""), verdict),
        Table(("here", ""), here),
        Table(("tried", "state", "what it says", "seconds", "for"), trials),
        Table(("package", "version", "state", "what it says", "seconds", "for"), packages),
        Table(("settings", "from"), source),
    ]  # fmt: skip


def _of(usable: Any, whole: Any, limit: Any, unit: str) -> str:
    text = "unknown" if usable is None else f"{usable}{unit} of {whole}{unit.removesuffix(' free')}"
    return text if limit is None else f"{text}; the container may use {limit}"


def _gib(size: int | None) -> float | None:
    return None if size is None else round(size / 2**30, 1)


def _folder(item: dict[str, Any]) -> str:
    if item["path"] is None:
        return "kept nowhere" if item["what"] == "compiled functions" else "none"
    free = "" if item["free_bytes"] is None else f", {_gib(item['free_bytes'])} GiB free"
    return f"{item['path']}, {'writable' if item['writable'] else 'cannot be written to'}{free}"
