A key group, by correlation.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm exact --objective correlation -o plan.json -q
  $ ftplan explain plan.json key-group:sessions/0 --format table
  key-group:sessions/0: what a copy would cost on each node (low is good)
  node  zone   cost  chosen  ruled out by
  n3    b     9.531  no      COPY_WITH_PRIMARY: sessions/0 has a copy on n3, where its primary is
  n1    a     9.544  yes     –
  n6    c      24.6  no      OVER_BALANCE: n1 holds copies of load 240, outside 330 to 367.334 (fair share 348.667, balance 0.053538)
  n4    b      40.3  no      COPY_IN_SAME_ZONE: sessions/0 has a copy on n4, in b like its primary on n3
  n5    c     46.49  no      OVER_BALANCE: n1 holds copies of load 240, outside 330 to 367.334 (fair share 348.667, balance 0.053538)
  n2    a     83.76  no      OVER_BALANCE: n1 holds copies of load 240, outside 330 to 367.334 (fair share 348.667, balance 0.053538)
  primary on n3, copies on n1; mean load 120 per window
