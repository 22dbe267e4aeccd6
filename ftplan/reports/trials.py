"""A page and a picture, for ``ftplan doctor``."""

from __future__ import annotations


def page() -> str:
    """Read the templates of a report."""
    import jinja2

    from ftplan.reports.page import templates

    for name in templates().list_templates():
        templates().get_template(name)
    return f"Jinja2 {jinja2.__version__}"


def picture() -> str:
    """Paint a PNG."""
    import matplotlib

    from ftplan.reports.drawing import Drawing, Rect, Text
    from ftplan.reports.plot_file import png

    shapes = (Rect(0.0, 0.0, 40.0, 20.0, "box"), Text(2.0, 12.0, "ftplan"))
    if not png(Drawing(40.0, 20.0, shapes)).startswith(b"\x89PNG"):
        raise ValueError("what was painted is no PNG")
    return f"matplotlib {matplotlib.__version__}"
