"""The version of ftplan."""

__version__ = "0.1.0"
