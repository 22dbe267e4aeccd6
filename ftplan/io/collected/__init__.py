"""A REST endpoint's answers over time, kept in a folder.

::

    DIR/collection.json              what was asked, where and how often (format: ftplan/collection)
    DIR/answers/2026-11-22T07.jsonl  the answers of one hour (UTC), a line each, in the order in which they came

A line is ``{"at": "2026-11-22T07:40:00.123Z", "path": "/jobs/overview", "status": 200, "answer": {...}}``; where none
came, ``{"at": ..., "path": ..., "status": null, "error": "connection refused"}``. Answers of Prometheus have ``metric``
too, the name that the mapping file gives to the query. A last line that was cut off counts as not written.
"""
