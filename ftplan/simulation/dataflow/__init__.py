"""Batches on their way through a job: what runs (``job``), how it flows and what is seen of it (``plane``), and a loop.

``compiled`` is the flow, on ``kernel`` and ``rows``. One that sends every record as a message is the oracle of tests.
"""
