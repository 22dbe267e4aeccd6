"""How demand goes on: forecasts that are judged on time that they have not seen, and when a score is reached.

``forecast.py`` tries ``methods.py`` (plain rules, and smoothing by statsmodels, an extra) and takes the one whose error
on unseen windows is least; it also says when an operator becomes a bottleneck if that holds.
"""
