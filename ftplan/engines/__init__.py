"""What engines say, in ftplan's terms, and plans in theirs: one folder an engine, and one row in the registry.

ftplan learns of a job in three ways and answers in one; each is a function that a row of :mod:`.registry` names.

::

    import-topology   importer   source -> Draft            importing/  opens the source, finishes the draft
    collect           collector  asks an endpoint           collecting/ keeps its answers in a folder, over time
    compute-stats     log reader log -> rows of a frame     log_rows    what rows may hold; spark_stats does the rest
    export-plan       exporter   plan -> Export             exporting   what exporters share

``source`` is files, a folder of them, a folder that ``collect`` wrote, or a URL. An engine's folder knows its engine
only and has an importer, a collector, log readers and an exporter as far as the engine can be read or told; its
``__init__`` says what the engine's answers look like, and what cannot be known from them. Importer and log reader give
an operator the same name, since both take it from the same module of the folder.

What an engine does not say is never guessed in silence: a draft *assumes* it, which is a warning that ``--strict``
makes an error; an export states what the engine cannot be told. Engines do not import each other, and ``spark_stats``
finds its log readers by name. PySpark is imported by log readers alone, when they read.

A further engine: docs/contributing/importers.md, which a test follows.
"""
