"""The command line: click and rich, no logic.

``main.py`` lists the commands and has the exit codes; ``lazy_group.py`` imports one when it is called. A question's
command is made by ``planning.py`` from its kind and its options (``kind_options.py``); every other command is a file of
its name. ``inputs.py`` and ``options.py`` are what several commands take, ``environment.py`` where defaults come from,
``render.py`` where answers go.
"""
