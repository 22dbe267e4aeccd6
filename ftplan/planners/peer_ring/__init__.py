"""Peer rings: options, problem, plan, judge, score, explanation and difference."""
