"""Batches on their way through a job: ``job`` is what runs, how it flows and what is seen of it.

``compiled`` is the flow, on ``kernel`` and ``rows``. One that sends every record as a message is the oracle of tests.
"""
