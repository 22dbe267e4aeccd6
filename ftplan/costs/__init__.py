"""Costs of recovery from measured ones: failures in curves, parameters, their intervals, the error on held-out ones.

Two commands. ``calibrate`` fits the parameters of :mod:`ftplan.model.measures.recovery_time`: ::

    recovery = stopped + replay + catching up, stopped = detection + restart + bytes / bandwidth
    replay = share * interval * rho, catching up = (stopped + replay) * rho / (1 - rho), rho = rate / capacity

``calibrate.py`` is the function; ``recoveries/`` reads what was measured, ``curves.py`` finds failures in curves;
``fitted_costs.py`` fits them as the sample of ``unknowns.py`` (and what it can tell), ``fit.py`` (least
squares on logarithms, bootstrap limits), ``selection.py`` (what without them predicts held-out recoveries as well is
left out); ``calibration.py`` is the result, document and figure.

``checkpoint-interval`` is in the folder of its name. ``given_costs.py`` is recovery costs as an input of every plan.
docs/methods/recovery-costs.md has the reasons.
"""
