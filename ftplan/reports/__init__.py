"""Plots and pages, drawn from plans. The libraries that draw are an extra and loaded when they are needed.

- Tables as data: ``answer.py`` is what every command answers, ``numbers.py`` how a value reads.
- Drawings: ``drawing.py`` is plain shapes, ``charts.py`` and ``topology_drawing.py`` (with ``layers.py``) draw with
  them in the colours of ``palette.py``; ``plot_file.py`` writes SVG or PNG. ``sparkline.py`` is a chart of characters.
- Pages: ``page.py`` puts the sections of a ``document.py`` into ``templates/``: ``plan_section.py``,
  ``evaluation_section.py``, ``what_if_section.py``, with ``tables.py`` and ``proof.py``.
- What one kind of plan shows is drawn in the folder of its question, found by ``plan_figures.py``.
"""
