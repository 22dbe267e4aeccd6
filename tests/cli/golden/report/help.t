The options of report.

  $ ftplan report --help
  Usage: ftplan report [OPTIONS] PLAN... [WHAT-IF...] [EVALUATION...]
    Write one HTML page about plans: how good they are proven to be, what they do, what was assumed.
    The page needs no network: topology, timeline, curves and tables stand in the one file. What each file is,
    its format says. Topology and cluster are read from the paths that a plan names, unless -t and -c say
    otherwise.
  Options:
    -t, --topology FILE  Topology, YAML or JSON; - is standard input.
    -c, --cluster FILE   Cluster, YAML or JSON.
    --title TEXT         Of the page.  [default: that of the plan]
    --max-tasks N        Fold a topology of more tasks by operator.  [default: 400; 0<=x<=2000]
    -o, --output FILE    Write HTML here; - is standard output.  [default: -]
    --force              Overwrite an existing output.
    --no-progress        No progress bar.
    -q, --quiet          Only the answer and errors.
    -v, --verbose        Say on standard error what is read and how long it takes.
    --debug              Show the trace of an error.
    -h, --help           Show this message and exit.
