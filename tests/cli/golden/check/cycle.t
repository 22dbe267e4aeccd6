  $ echo "  - {from: alerts, to: clicks, partitioning: full}" >> topology.yaml
  $ ftplan check topology.yaml
  {
    "errors": [
      "topology.yaml: edges: cycle: clicks -> sessions -> alerts -> clicks; the graph must be acyclic"
    ],
    "files": []
  }
  2> ftplan: topology.yaml: edges: cycle: clicks -> sessions -> alerts -> clicks; the graph must be acyclic
  [2]
