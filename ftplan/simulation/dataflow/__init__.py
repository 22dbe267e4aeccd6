"""Batches on their way through a job: what runs, and two implementations of how batches flow, one to read, one fast."""
