"""What pages of the documentation do not say by themselves: options, fields, figures, written between markers.

``<!-- generate NAME: ARGUMENTS -->`` begins what a generator writes, ``<!-- end -->`` ends it, within a line or over
many; arguments are divided by ``::``. ``python -m docs.generate`` writes all pages anew, ``--check`` only says which
are out of date. Pages read well without it: what was written stays in them.
"""
