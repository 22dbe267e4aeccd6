"""Batches on their way through a job: what runs (``job``), what a flow of batches does (``plane``), and an event loop.

``compiled`` is the flow, on ``kernel`` and ``rows``. One that sends every record as a message is the oracle of tests.
"""
