"""Planners of ``drain-schedule``: the fewest rounds in which nodes can be restarted."""
