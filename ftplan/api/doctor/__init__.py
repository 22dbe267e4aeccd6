"""What is installed, what works here and where settings come from: ``ftplan doctor``.

It has to work where packages are missing or broken: nothing here imports any that it tells of, each trial is a process
of its own, and what goes wrong in one is a finding.
"""
