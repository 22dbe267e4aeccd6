An adaptation over the second half of the statistics, with checkpoints allocated on the first half in several ways.

  $ ftplan simulate migration --level trace --topology topology.yaml --cluster cluster.yaml --stats stats --quiet --format table --allocation even --allocation usable --runs 3 --period 2h
  12 periods of 7,200 s; without moves 27 node-periods of overload; mean ± 95 % confidence over 3 draws
  allocation  hosts of copies preferred  moves          assisted       usable copies  paused, s          bytes                  copies moved  node-periods of overload left
  even        yes                        13.67 ± 3.795  63.4 ± 33.2 %  28.1 ± 4.1 %   0.09939 ± 0.1983   2.010e+06 ± 2.632e+06  0 ± 0         13.33 ± 1.434
  even        no                         13 ± 0         15.4 ± 0.0 %   30.8 ± 6.4 %   0.4617 ± 0.009983  3.845e+06 ± 375,972    0 ± 0         14 ± 0
  usable      yes                        13             69.2 %         24.3 %         0.04487            1,835,008              0             14
  usable      no                         13             23.1 %         33.3 %         0.4579             3,670,016              0             14
  allocation  in each period              over time
  even        overloaded nodes, to 3.333  ▅▃▅█▆▅▅▄▃▅▅▆
  even        moves, to 3                 ▆▆▄▆▂▁▃▄▄▃▅▃
  even        paused, to 0.05749 s        ▂▂▂█▂▁▂▂▂▂▂▂
  even        usable copies, to 100 %     ▄▄▄▂▂▁▁▅▅▅▄▁
  usable      overloaded nodes, to 3.333  ▅▃▅▇▅▇▅▁▃▃▅▅
  usable      moves, to 3                 ▆▆▄▆▁▄▄▁█▁▄▁
  usable      paused, to 0.05749 s        ▃▂▂▃▁▂▂▁▂▁▂▁
  usable      usable copies, to 100 %     ▃▆▃▃▁▁▁ ▆▁▄▁

Copies that are held against a fresh allocation every four hours.

  $ ftplan simulate migration --level trace --topology topology.yaml --cluster cluster.yaml --stats stats --quiet --format table --allocation usable --prefer no --upkeep-every 4h --threshold 0
  24 periods of 3,600 s; without moves 55 node-periods of overload
  allocation  hosts of copies preferred  moves  assisted  usable copies  paused, s  bytes      copies moved  node-periods of overload left
  usable      no                         14     42.9 %    34.9 %         0.08663    3,145,728  13            28
  allocation  in each period           over time
  usable      overloaded nodes, to 3   ▆▆▄▄▆▆██▆▆▆█▄▆▁▄▄▄▄▄▆▆▄▆
  usable      moves, to 2              █▅▅▁▅▁▅█▁▁▁▅▁▅▁▅▅▁▁▁▅▅▁▁
  usable      paused, to 0.0383 s      ▃▂▂▁▂▁▃█▁▁▁▃▁▂▁▂▂▁▁▁▃▂▁▁
  usable      usable copies, to 100 %  ▃▅▅▁▅▄▄▅▁▁▁▄▁▄ ▆▅▁▁▁▅▄▁▁

What is wrong is one line.

  $ ftplan simulate migration --level trace --topology topology.yaml --cluster cluster.yaml --stats stats --period 90m
  2> ftplan: --period: 5400 s is not a multiple of 3600 s
  [2]
  $ ftplan simulate migration --level trace --topology topology.yaml --cluster cluster.yaml
  2> ftplan: a rebalance needs stats: give --stats (in Python stats=...)
  [2]
  $ ftplan simulate migration --level trace --topology topology.yaml --cluster cluster.yaml --stats stats --allocation best
  2> ftplan: --allocation: 'best' is not one of baseline, even, correlated, usable, lazy-move, or a list of them
  [2]
