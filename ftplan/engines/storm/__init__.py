"""Apache Storm: the UI's REST pages, Flux files, topologies decoded from Thrift; and what its schedulers can be told.

An operator is a component, a task an executor, a key group one of Storm's own tasks, over which a fields grouping
hashes and whose number never changes. Storm's and Trident's own components and streams are left out.

::

    importer     which of the three forms it is; reads decoded topologies, and Flux: YAML with includes and ${...}
    ui           REST pages: executors with figures and hosts, streams from the visualization
    components   components, groupings as partitionings, which streams coordinate
    collector    what a poll of the UI asks for
    exporter     recovery schedules: nodes that the resource aware scheduler favours; scale-outs: ``storm rebalance``

Storm does not say whether a bolt joins its inputs, nor how much state a task has; Flux and Thrift neither rates nor
hosts. It cannot be told which supervisor runs which task.
"""
