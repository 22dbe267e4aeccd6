"""Cases and parts of each question for benchmarks/ablation.py: ``cases()`` and ``PARTS``."""
