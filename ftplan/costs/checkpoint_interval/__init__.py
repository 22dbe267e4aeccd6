"""``checkpoint-interval``: how far apart do checkpoints lose least time?

A longer interval costs fewer checkpoints and more replay: ``formula.py`` has the time lost per second as a function of
the interval and of how often the job fails, with Young's [Young1974] and Daly's [Daly2006] formulas to compare.
``choose.py`` takes the least by measured costs, ``options.py`` has every option, ``result.py`` the answer and figure.
"""
