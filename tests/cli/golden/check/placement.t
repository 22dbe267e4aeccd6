A task without a node.

  $ sed -i "s/sessions: .n3, n4, n5, n6./sessions: [n3, n4, n5]/" cluster.yaml
  $ ftplan check topology.yaml cluster.yaml
  {
    "errors": [
      "cluster.yaml: placement.tasks.sessions: wrong length: got 3, expected 4 = parallelism of 'sessions'"
    ],
    "files": [
      {
        "kind": "topology",
        "name": "topology.yaml",
        "summary": {
          "edges": 2,
          "key groups": 12,
          "operators": 3,
          "outputs": 1,
          "tasks": 8
        },
        "warnings": []
      }
    ]
  }
  2> ftplan: cluster.yaml: placement.tasks.sessions: wrong length: got 3, expected 4 = parallelism of 'sessions'
  [2]
