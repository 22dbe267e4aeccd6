"""Operators that are split while they run: what queues, latency and tasks do meanwhile, and whether all counts once.

The input comes in batches, numbered by the sources. Every task processes its key groups' part of each batch in turn;
what a split operator puts out is put in order again by these numbers before it goes on [Mudassar2019, figure 6].
"""
