"""What happens before it does: recoveries, migrations, scaling and peer rings, batch by batch or message by message.

``registry`` has a row for each simulation: ``recovery``, ``migration``, ``scaling``, ``ring``.
Each is a folder with files of the same names; a file of that name here has what several of them share.

- ``options``: what can be asked, as one dataclass; and the help of the command.
- ``scene``: the problem as prepared from files, which all runs have in common.
- ``setting``: what one run is given: the scene, with all that is random drawn beforehand by seed and run. Whoever is
  compared meets the same random numbers, and a simulation draws nothing while it runs.
- ``run``: the simulation of one run, from a setting to an outcome: what came out, and whether every record counts once
  and in order. It knows no files.
- ``simulate``: from inputs and options to an answer, over all runs, as data and as a document; ``document`` describes
  that file.
- ``view``: its tables and its picture.

Below them ``engine`` has what all are made of, on SimPy, and ``dataflow`` how batches flow through a job. No simulation
asks a planner how good a plan is: plans are held against what happens. That is held against closed forms, slower
simulations that are easier to read, and counting by hand.
"""
