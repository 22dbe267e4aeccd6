"""Prometheus: what was measured of any engine, asked for as ranges of time and read as a log.

Unlike engines, it is not polled: it is asked for what it has already, piece by piece. What to ask, and what answers
mean, is data: ``prometheus.yaml`` and mapping files that users write.

::

    mapping     the mapping file: queries by section, what each measures, which labels name operator, task and host
    queries     a query and its labels, as the collected folder states them too
    collector   pieces of time on a grid (grid), kept in a collected folder, none asked for twice
    log         the folder as a log: survey reads the series, and looks which queries count

Prometheus has no plan of a job: it gives statistics, no topology. What an exporter does not measure, no query finds.
"""
