"""Times, sizes, speeds and shares with their units: on the command line, in ``ftplan.toml``, in what-if files."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

import ftplan
from ftplan.io.options.fields import windows_in
from ftplan.io.options.quantities import bytes_of, seconds_of, share_of, speed_of
from ftplan.planners.recovery_schedule.options import RecoveryScheduleOptions
from ftplan.planners.scale_out.options import ScaleOutOptions
from tests.cli.in_process import environment, run_here


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (seconds_of, "90", 90.0),
        (seconds_of, " 1.5 h ", 5400.0),
        (seconds_of, "500ms", 0.5),
        (seconds_of, "2min", 120.0),
        (seconds_of, "1e2s", 100.0),
        (bytes_of, "100", 100.0),
        (bytes_of, "2GB", 2e9),
        (bytes_of, "2 GiB", 2.0 * 2**30),
        (bytes_of, "3k", 3000.0),
        (bytes_of, "3Ki", 3072.0),
        (bytes_of, "7B", 7.0),
        (speed_of, "100MB/s", 100e6 / 2**20),
        (speed_of, "100MiB/s", 100.0),
        (speed_of, "1gib", 1024.0),
        (share_of, "70%", 0.7),
        (share_of, "0.7", 0.7),
        (share_of, "150 %", 1.5),
    ],
)
def test_units(read: Callable[[str], float], text: str, value: float) -> None:
    assert read(text) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (speed_of, "100", "'100' has no unit: 100MB/s or 100MiB/s?"),
        (speed_of, "2.5/s", "'2.5/s' has no unit: 2.5MB/s or 2.5MiB/s?"),
        (speed_of, "0MB/s", "more than 0"),
        (speed_of, "fast", "'fast' is no speed: 100MB/s, 100MiB/s, 1GB/s"),
        (speed_of, "100Mb/s", "bits or bytes?"),
        (speed_of, "100Mbit/s", "is no speed"),
        (bytes_of, "1Gb", "bits or bytes?"),
        (bytes_of, "5 apples", "is no size"),
        (seconds_of, "5M", "is no duration"),
        (seconds_of, "-5s", "is no duration"),
        (seconds_of, "1e308d", "is not finite"),
        (share_of, "70 percent", "is no share: 0.7 or 70%"),
        (share_of, "1e999%", "is no share"),
    ],
)
def test_what_is_no_quantity_is_refused_with_what_would_be_right(
    read: Callable[[str], float], text: str, message: str
) -> None:
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        read(text)
    assert message in str(raised.value)


def test_options_in_python_and_files_take_them_too() -> None:
    """By one reader; a number is what plans record."""
    given = {"hold": "5m", "max_overloaded": "0%", "horizon_s": "2h", "task_memory": "1GiB", "bandwidth": "1GiB/s"}
    taken = ScaleOutOptions.of("scale-out", given)
    assert (taken.hold, taken.max_overloaded, taken.horizon_s) == ("300s", 0.0, 7200.0)
    assert (taken.task_memory, taken.bandwidth) == (2.0**30, 1024.0)
    assert ScaleOutOptions.of("scale-out", {"hold": "4", "bandwidth": 100.0}).hold == 4
    assert RecoveryScheduleOptions.of("recovery-schedule", {"max_cpu": "80%"}).max_cpu == 0.8
    with pytest.raises(ftplan.FtplanError, match=r"^--hold: '0s' is not a number of windows"):
        ScaleOutOptions.of("scale-out", {"hold": "0s"})


def test_a_time_is_as_many_windows_as_it_takes() -> None:
    assert [windows_in(value, 60.0) for value in (3, "300s", "301s", "1s")] == [3, 5, 6, 1]
    assert windows_in("1s", math.inf) == 1


def test_a_speed_of_the_project_file_needs_its_unit(tmp_path: Path) -> None:
    """Also where it is a number of TOML."""
    (tmp_path / "ftplan.toml").write_text("[scale-out]\nbandwidth = 100\n")
    made = run_here(["scale-out"], cwd=tmp_path, env=environment())
    assert made.returncode == 2
    assert "'100' has no unit: 100MB/s or 100MiB/s?" in made.stderr
    (tmp_path / "ftplan.toml").write_text('[scale-out]\nbandwidth = "100MB/s"\nhold = "5m"\nmax-overloaded = "5%"\n')
    assert "--topology is missing" in run_here(["scale-out"], cwd=tmp_path, env=environment()).stderr
