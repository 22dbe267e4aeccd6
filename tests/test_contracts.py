"""The import contracts hold what is new as well: an import that is planted in a folder nobody has named breaks them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import grimp
import pytest
from importlinter.application import use_cases
from importlinter.configuration import configure
from importlinter.contracts.acyclic_siblings import AcyclicSiblingsContract
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.layers import LayersContract

from ftplan.model import kinds
from tests.places import ROOT

TYPES = {"acyclic_siblings": AcyclicSiblingsContract, "forbidden": ForbiddenContract, "layers": LayersContract}

#: For each contract imports that break it, each by itself: who imports, and what. ``toy`` is a room, a question or an
#: algorithm that nobody has named.
PLANTED: Mapping[str, tuple[tuple[str, str], ...]] = {
    "Arrows point down": (
        ("ftplan.io.toy", "ftplan.planners.registry"),
        ("ftplan.planners.toy.make", "ftplan.api.plans"),
        ("ftplan.planners.toy.algorithms.exact", "ftplan.simulation"),
        ("ftplan.generators.toy", "ftplan.simulation.registry"),
        ("ftplan.reports.page", "ftplan.spark_stats.session"),
        ("ftplan.toy_room.things", "ftplan.errors"),
    ),
    "ortools only in planners": (("ftplan.toy_room.things", "ortools"), ("ftplan.simulation.toy.run", "ortools")),
    "pyspark only in spark_stats and engines": (
        ("ftplan.toy_room.things", "pyspark"),
        ("ftplan.planners.toy.make", "pyspark"),
    ),
    "pysail only in spark_stats": (("ftplan.toy_room.things", "pysail"), ("ftplan.engines.toy.log", "pysail")),
    "click and rich only in cli": (("ftplan.planners.toy.view", "rich"), ("ftplan.planners.toy.kind", "click")),
    "pydantic where files are described": (
        ("ftplan.planners.toy.make", "pydantic"),
        ("ftplan.planners.toy.algorithms.exact", "pydantic"),
        ("ftplan.simulation.toy.answer", "pydantic"),
    ),
    "simpy only in simulation": (("ftplan.planners.toy.make", "simpy"),),
    "statsmodels only in planners": (("ftplan.planners.toy.make", "statsmodels"),),
    "Who judges a plan imports no algorithm": (
        ("ftplan.planners.toy.judge", "ftplan.planners.toy.algorithms.exact"),
        ("ftplan.planners.toy.score", "ftplan.planners.toy.algorithms.search.moves"),
        ("ftplan.planners.toy.explain", "ftplan.planners.drain_schedule.algorithms.exact"),
        ("ftplan.planners.toy.diff", "ftplan.planners.toy.algorithms.exact"),
        ("ftplan.planners.rebalance.rules", "ftplan.planners.rebalance.algorithms.exact"),
    ),
    "An algorithm knows neither files nor screens": (
        ("ftplan.planners.toy.algorithms.exact", "ftplan.io.documents"),
        ("ftplan.planners.toy.algorithms.search.moves", "ftplan.reports.answer"),
        ("ftplan.planners.toy.algorithms.exact", "rich"),
    ),
    "A simulated run knows neither files nor screens": (
        ("ftplan.simulation.toy.run", "ftplan.io.documents"),
        ("ftplan.simulation.toy.setting", "pydantic"),
        ("ftplan.simulation.migration.toy.outcome", "ftplan.reports.answer"),
        ("ftplan.simulation.engine.toy", "rich"),
    ),
    "No circles": (
        ("ftplan.planners.peer_ring.rules", "ftplan.planners.peer_ring.make"),
        ("ftplan.planners.recovery_schedule.metrics", "ftplan.planners.replicate_tasks.metrics"),
        ("ftplan.model.topology", "ftplan.model.problem"),
    ),
    "A repair is planned in layers": (
        (
            "ftplan.planners.recovery_schedule.algorithms.knapsack.deep_tree",
            "ftplan.planners.recovery_schedule.algorithms.repair.policy",
        ),
    ),
}


@pytest.fixture(scope="module", name="options")
def _options() -> Any:
    configure()
    return use_cases.read_user_options(str(ROOT / "pyproject.toml"))


@pytest.fixture(scope="module", name="graph")
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph("ftplan", include_external_packages=True, cache_dir=None)


def checked(contract: Mapping[str, Any], graph: grimp.ImportGraph, session: Mapping[str, Any]) -> bool:
    """Return whether a contract is kept."""
    made = TYPES[contract["type"]](
        name=contract["name"],
        session_options=dict(session),
        contract_options={key: value for key, value in contract.items() if key not in ("name", "type", "id")},
    )
    return bool(made.check(deepcopy(graph), verbose=False).kept)


def planted(graph: grimp.ImportGraph, importer: str, imported: str) -> grimp.ImportGraph:
    """Return the imports of ftplan with one more; who imports, and the packages around it, may be new."""
    changed = deepcopy(graph)
    for name in (importer, imported):
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            part = ".".join(parts[:end])
            if part not in changed.modules:
                changed.add_module(part, is_squashed=parts[0] != "ftplan")
    changed.add_import(importer=importer, imported=imported)
    return changed


def test_every_contract_has_a_planted_import(options: Any) -> None:
    assert {contract["name"] for contract in options.contracts_options} == set(PLANTED)


@pytest.mark.parametrize(
    ("name", "importer", "imported"),
    [(name, *pair) for name, pairs in PLANTED.items() for pair in pairs],
    ids=lambda value: value.removeprefix("ftplan."),
)
def test_a_planted_import_breaks_its_contract(
    options: Any, graph: grimp.ImportGraph, name: str, importer: str, imported: str
) -> None:
    (contract,) = [item for item in options.contracts_options if item["name"] == name]
    assert checked(contract, graph, options.session_options)
    assert not checked(contract, planted(graph, importer, imported), options.session_options)


def shared(package: Path) -> set[str]:
    """Return the modules of a question that others may import, as its ``__init__`` lists them."""
    for node in ast.parse((package / "__init__.py").read_text("utf-8")).body:
        target = (
            node.target
            if isinstance(node, ast.AnnAssign)
            else node.targets[0]
            if isinstance(node, ast.Assign)
            else None
        )
        if isinstance(target, ast.Name) and target.id == "SHARED":
            return set(ast.literal_eval(node.value))  # type: ignore[union-attr, arg-type]
    raise AssertionError(f"{package.name}/__init__.py lists no SHARED")


@pytest.mark.parametrize("row", kinds.ROWS, ids=lambda row: row.name)
def test_a_question_takes_of_another_what_that_one_shares(graph: grimp.ImportGraph, row: kinds.KindRow) -> None:
    """And what it shares, somebody takes."""
    package = ROOT.joinpath(*row.folder.split("."))
    others = tuple(other.folder for other in kinds.ROWS if other.name != row.name)
    taken = {
        imported.removeprefix(f"{row.folder}.")
        for other in others
        for importer in (other, *graph.find_descendants(other))
        for imported in graph.find_modules_directly_imported_by(importer)
        if imported.startswith(f"{row.folder}.")
    }
    assert taken == shared(package)


@pytest.mark.parametrize(
    "row", [row for row in kinds.ROWS if row.name not in ("rebalance", "scale-out")], ids=lambda row: row.name
)
def test_few_files_name_another_folders_command(row: kinds.KindRow) -> None:
    """A question is its folder and one row: besides, engines' exports and the starter's ftplan.toml name commands.

    ``rebalance`` and ``scale-out`` are also what rings and engines do.
    """
    package = ROOT.joinpath(*row.folder.split("."))
    files = [path for path in (ROOT / "ftplan").rglob("*") if path.suffix in (".py", ".toml", ".yaml", ".html")]
    naming = [path for path in files if package not in path.parents and row.name in path.read_text("utf-8")]
    assert len(naming) <= 3, naming
