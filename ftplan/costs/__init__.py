"""Costs of recovery from measured ones: failures in curves, parameters, their intervals, the error on held-out ones."""
