"""The planners: one folder a question, one file an algorithm."""
