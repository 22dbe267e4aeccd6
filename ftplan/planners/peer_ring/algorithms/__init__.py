"""Planners of peer rings: which tokens nodes get on the circle of consistent hashing.

``exact``, ``paper`` (neighbours negotiate) and ``virtual_nodes`` in ``baselines`` are the named planners. Without a
ring in place ``exact`` takes the best order of nodes (``orders/``) and cuts the circle there (``partition``); from a
ring in place it goes on by ``moves/``.
``tiers`` places last copies, ``bounds`` says what no ring is below, ``outcome`` makes the result, and ``baselines``
also has what a plan is compared with.
"""
