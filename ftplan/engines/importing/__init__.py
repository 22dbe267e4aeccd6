"""From what an importer learnt to a topology and a cluster: what is alike for all engines.

::

    source   opens files, folders, collected folders, URLs and standard input
    parts    checks the shape of an answer while it is read; its errors say where
    draft    ImportOptions, and the Draft that an importer fills, in the engine's own names
    finish   identifiers, defaults, notes, and the documents, which the readers of files accept
    edges    one edge between two operators, partitionings that fit; cycles, cut where that is allowed
    hosts    zones, cores and placements as a cluster

``api.importing`` opens the source, calls the importer that the registry names, and gives its draft to ``finish``.
"""
