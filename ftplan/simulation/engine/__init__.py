"""What simulations of messages are made of, on SimPy, and nothing of recoveries.

``clock`` (control before data), ``network`` (links and channels that keep order), ``series`` (metrics over time).
"""
