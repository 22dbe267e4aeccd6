Fewer key groups.

  $ ftplan stats-summary stats --top 1 --sweep-key-groups 1,2,4 -t topology.yaml -c cluster.yaml --format table
  statistics
  start            2026-03-02T00:00:00Z
  end              2026-03-04T00:00:00Z
  window_s         3,600
  windows          48
  coverage         1
  rows_read        100,416
  rows_rejected    0
  measure          records
  load_per_window  2,092
  key_groups       12
  operators
  operator  key_groups  with_load   share  heaviest_over_mean    gini  coverage  estimated
  alerts             4          4  0.1396               1.315  0.1541         1  no
  sessions           8          8  0.8604               1.467   0.175         1  no
  heaviest key groups
  key_group   mean_load   share
  sessions/7        330  0.1577
  strongest negative correlations
  a         b         correlation
  alerts/1  alerts/2      -0.9224
  strongest positive correlations
  a         b           correlation
  alerts/2  sessions/2     0.999988
  number of key groups
  key_groups  heaviest_share  heaviest_over_mean     gini  checkpoint_files  least_groups_per_task  idle_tasks  heaviest_node_over_mean  usable_share  even_usable_share
           1               1                   1        0                 2                      0           4                    1.721             0                  0
           2          0.5753               1.151  0.07534                 4                      0           2                    1.836             0                  0
           4          0.3288               1.315   0.1541                 8                      1           0                    1.549             0                  0

A number that does not divide theirs.

  $ ftplan stats-summary stats --sweep-key-groups 3
  2> ftplan: --sweep-key-groups: 3 does not divide the 4 key groups that the statistics have of 'alerts': one of 1, 2, 4
  [2]
