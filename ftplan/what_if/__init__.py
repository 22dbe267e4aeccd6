"""One question asked again and again under changed inputs, in processes or on Spark executors.

A what-if file names inputs, a question, and what changes: listed cases, and a grid of axes. Each case is answered as if
its files had been edited by hand, and is a row with its difference from the base.

- ``what_if.py`` is the function of Python; ``case_file.py`` reads the file: ``question.py`` (what is asked),
  ``inputs.py``, ``measures.py``, and ``expansion.py`` with ``axes.py``, ``named_parts.py`` and ``draws.py`` for what
  each case changes (``delta.py``).
- ``cases.py`` answers a case on documents that ``edits.py`` (with ``document_edits.py``) changed.
- ``runner.py`` answers all: here, in processes, or by ``executors.py``; ``outcome.py`` is one case done, ``journal.py``
  keeps it. ``result.py`` and ``summary.py`` say what came out, ``plot.py`` draws it.

The package has not the name of the function, ``ftplan.what_if``, since it would take its place in ``ftplan``.
"""
