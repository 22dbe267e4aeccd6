"""Settings of all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# Where nobody looks at a failing example the same examples run every time; by hand, new ones do.
settings.register_profile("ci", derandomize=True, print_blob=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
