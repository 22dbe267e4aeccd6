"""The command line in a folder with small inputs, as the tests of commands have it."""

from tests.cli.conftest import ftplan, project  # noqa: F401
