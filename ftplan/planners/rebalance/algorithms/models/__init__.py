"""Exact models: what each key group may do as columns, what couples them as rows, and what solves these."""
