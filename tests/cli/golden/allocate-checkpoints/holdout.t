A plan that the unseen end of the trace does not bear out.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm exact --objective node-correlation --correlate share --holdout 0.4 --format markdown
  | checkpoint allocation |  |
  |---|---|
  | algorithm | exact |
  | status | optimal for these inputs; 1 assumption |
  | node-correlation (min) | -1,279 |
  | proven bound | -1,279 |
  | gap | 0.0000% |
  | assumed | a core does 0.03491 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED] |
  | expected of a random plan | -53.54 |
  | usable share at random | 0.2603 |
  | usable share of even | 0.2698 |
  | rules | copy-not-with-primary, copies-on-distinct-nodes, balance, memory |
  | balance | 0.07189 (the smallest feasible) |
  | worst loss | node:n5: n6 carries 2.122 times its fair share |
  |  | before | after |
  |---|---:|---:|
  | node correlation | -98.76 | -1,279 |
  | usable share | – | 0.1429 |
  | imbalance | 2.034 | 0.07189 |
  | max copies per node | 2 | 3 |
  | copies | 4 | 12 |
  | zone separation | 0 | 0.6667 |
  | failover load ratio | 5 | 2.122 |
  | loss probability | – | – |
  | copysets | 1 | 8 |
  | operator | node-correlation | random plan |
  |---|---:|---:|
  | alerts | -148.6 | -27.65 |
  | sessions | -1,130 | -25.89 |
  | on 19 unseen windows | plan | even | random plan |
  |---|---|---:|---:|
  | usable share | 0.2093 | 0.311 | 0.3023 |
  | node correlation | -1,273 | -166.2 | -50.88 |
  | gain in usable share, mean of 5 splits | -0.08511 | – | – |
  | gain in usable share, 95 % interval | -0.2041 to 0.03386 | – | – |
  | key group | primary | checkpoints |
  |---|---|---|
  | alerts/0 | n1 | n2 |
  | alerts/1 | n1 | n2 |
  | alerts/2 | n2 | n4 |
  | alerts/3 | n2 | n5 |
  | sessions/0 | n3 | n6 |
  | sessions/1 | n3 | n1 |
  | sessions/2 | n4 | n1 |
  | sessions/3 | n4 | n2 |
  | sessions/4 | n5 | n4 |
  | sessions/5 | n5 | n6 |
  | sessions/6 | n6 | n5 |
  | sessions/7 | n6 | n3 |
  | move | from | to | bytes |
  |---|---|---|---:|
  | alerts/2 | n1 | n4 | 262,144 |
  | alerts/3 | n1 | n5 | 262,144 |
  | sessions/0 | – | n6 | 524,288 |
  | sessions/1 | – | n1 | 524,288 |
  | sessions/2 | – | n1 | 524,288 |
  | sessions/3 | – | n2 | 524,288 |
  | sessions/4 | – | n4 | 524,288 |
  | sessions/5 | – | n6 | 524,288 |
  | sessions/6 | – | n5 | 524,288 |
  | sessions/7 | – | n3 | 524,288 |
  2> ftplan: warning: on the 19 windows that the plan has not seen it gains nothing for sure: a mean of -0.0851 in usable share against even over 5 splits, 95 % interval -0.204 to +0.0339; prefer --algorithm even, or try --objective usable [NO_GAIN_ON_UNSEEN_TIME]
  2> ftplan: warning: usable share 0.1429, no better than random copies (0.2603) and --algorithm even (0.2698): in windows of overload this plan helps no more than chance; take --objective usable, or even [NO_GAIN_IN_USABLE_SHARE]
  2> ftplan: assumed: a core does 0.03491 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
