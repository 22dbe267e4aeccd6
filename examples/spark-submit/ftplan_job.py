"""What spark-submit runs: ``spark-submit --master yarn ftplan_job.py compute-stats LOG... -o DIR``."""

from ftplan.cli.main import main

main()
