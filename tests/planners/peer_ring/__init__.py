"""Peer rings from files, and judged."""
