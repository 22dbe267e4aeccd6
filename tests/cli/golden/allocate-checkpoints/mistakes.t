An option that the objective does not look at.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --objective usable --correlate share
  2> ftplan: --correlate share: --objective usable looks at loads, not at correlations: leave out --correlate, or take --objective correlation or node-correlation
  [2]

Rows of long tables are a number, or all.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --rows none
  2> ftplan: allocate-checkpoints: Invalid value for '--rows': 'none' is no number above 0, nor all
  [2]
