Each copy of a key group has its own alternatives.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm exact --objective correlation --copies 2 --anti-affinity zone -o plan.json -q
  $ ftplan explain plan.json key-group:sessions/0 --format table
  key-group:sessions/0: what a copy would cost on each node (low is good)
  copy  node  zone   cost  chosen  ruled out by
  n2    n3    b     9.531  no      COPY_WITH_PRIMARY: sessions/0 has a copy on n3, where its primary is
  n2    n1    a     9.544  no      OVER_BALANCE: n1 holds copies of load 1020, outside 474 to 920.667 (fair share 697.333, balance 0.320268)
  n2    n6    c      24.6  no      COPY_IN_SAME_ZONE: sessions/0 has a copy on n5, in c like its copy on n6
  n2    n4    b      40.3  no      COPY_IN_SAME_ZONE: sessions/0 has a copy on n4, in b like its primary on n3
  n2    n5    c     46.49  yes     –
  n2    n2    a     83.76  yes     –
  n5    n3    b     9.531  no      COPY_WITH_PRIMARY: sessions/0 has a copy on n3, where its primary is
  n5    n1    a     9.544  no      COPY_IN_SAME_ZONE: sessions/0 has a copy on n1, in a like its copy on n2
  n5    n6    c      24.6  no      OVER_BALANCE: n5 holds copies of load 358, outside 474 to 920.667 (fair share 697.333, balance 0.320268)
  n5    n4    b      40.3  no      COPY_IN_SAME_ZONE: sessions/0 has a copy on n4, in b like its primary on n3
  n5    n5    c     46.49  yes     –
  n5    n2    a     83.76  yes     –
  primary on n3, copies on n2, n5; mean load 120 per window
