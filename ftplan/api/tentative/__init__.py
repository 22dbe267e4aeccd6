"""Tentative output: how much of the answer of two queries a set of replicas keeps, and what foretells it."""
