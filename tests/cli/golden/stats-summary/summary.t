As a table.

  $ ftplan stats-summary stats --top 3 --format table
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
  sessions/6        300  0.1434
  sessions/5        270  0.1291
  strongest negative correlations
  a         b           correlation
  alerts/1  alerts/2        -0.9224
  alerts/2  sessions/1      -0.9223
  alerts/1  sessions/2      -0.9218
  strongest positive correlations
  a         b           correlation
  alerts/2  sessions/2     0.999988
  alerts/1  sessions/1     0.999981
  alerts/0  sessions/0     0.999979

As JSON.

  $ ftplan stats-summary stats --top 1
  {
    "heaviest_key_groups": [
      {
        "key_group": "sessions/7",
        "mean_load": 330.0,
        "share": 0.157743785851
      }
    ],
    "operators": [
      {
        "coverage": 1.0,
        "estimated": false,
        "gini": 0.154109589041,
        "heaviest_over_mean": 1.31506849315,
        "key_groups": 4,
        "operator": "alerts",
        "share": 0.139579349904,
        "with_load": 4
      },
      {
        "coverage": 1.0,
        "estimated": false,
        "gini": 0.175,
        "heaviest_over_mean": 1.46666666667,
        "key_groups": 8,
        "operator": "sessions",
        "share": 0.860420650096,
        "with_load": 8
      }
    ],
    "overall": {
      "coverage": 1.0,
      "end": "2026-03-04T00:00:00Z",
      "key_groups": 12,
      "load_per_window": 2092.0,
      "measure": "records",
      "rows_read": 100416,
      "rows_rejected": 0,
      "start": "2026-03-02T00:00:00Z",
      "window_s": 3600.0,
      "windows": 48
    },
    "strongest_negative": [
      {
        "a": "alerts/1",
        "b": "alerts/2",
        "correlation": -0.922361418286
      }
    ],
    "strongest_positive": [
      {
        "a": "alerts/2",
        "b": "sessions/2",
        "correlation": 0.999988327739
      }
    ],
    "warnings": []
  }
