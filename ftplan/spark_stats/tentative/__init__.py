"""Queries that run with some of their tasks dropped: what is left of their output ([SuZhou2016], section VI-B)."""
