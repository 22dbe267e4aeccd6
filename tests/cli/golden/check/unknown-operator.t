A misspelt name.

  $ sed -i "s/to: alerts/to: alert/" topology.yaml
  $ ftplan check topology.yaml
  {
    "errors": [
      "topology.yaml: edges[1].to: unknown operator 'alert' (did you mean 'alerts'?)"
    ],
    "files": []
  }
  2> ftplan: topology.yaml: edges[1].to: unknown operator 'alert' (did you mean 'alerts'?)
  [2]
