"""A REST endpoint's answers over time, kept in a folder.

::

    DIR/collection.json                 what was asked, where and how often (format: ftplan/collection)
    DIR/answers/2026-11-22T07.jsonl     the answers of one hour (UTC), a line each, in the order in which they came
    DIR/answers/2026-11-22T06.jsonl.gz  the same of an hour that is over

A line is ``{"at": "2026-11-22T07:40:00.123Z", "path": "/jobs/overview", "status": 200, "answer": {...}}``; where none
came, ``{"at": ..., "path": ..., "status": null, "error": "connection refused"}``. ``at`` is when the answer was there;
``path`` is what was asked, with its query; ``status`` is that of HTTP, null where nothing answered, and lines of any
status but 200 have an ``error`` instead of an ``answer``. Answers of Prometheus have ``metric`` too, the name that the
mapping file gives to the query. A last line that was cut off counts as not written. The answers of one poll follow each
other, and each poll of an engine begins with the same path.

``polling`` keeps the pace, through outages; ``asking`` asks for one poll, recognises engines and keeps what comes;
``endpoint`` is HTTP, ``journal`` writes, ``collection`` reads back. What to ask an engine is in its own folder.
"""
