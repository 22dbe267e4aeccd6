"""Sweeps: one question asked again and again under changed inputs, in processes or on Spark executors."""
