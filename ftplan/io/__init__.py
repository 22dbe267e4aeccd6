"""Files in and out: topology, cluster, failure, statistics, plans; their schemas and fingerprints.

``documents.py`` reads YAML and JSON (``parsers.py``), ``validation.py`` holds them to models of ``fields.py`` and says
in a sentence what is wrong; a file a format: ``topology_file.py``, ``cluster_file.py``, ``plan_file.py`` and so on.
``stats_store.py`` reads the tables of statistics; ``loading.py`` makes one problem of all inputs. ``options/`` are the
options of commands as fields of dataclasses; ``output.py`` writes whole files or none; ``starter/`` is what ``init``
writes, ``schemas.py`` makes what ``ftplan schema`` prints.
"""
