"""Options of commands as fields of dataclasses, for the command line, Python and files alike.

``fields.py`` is how a field says its default, what is right and its help, with the checks and units that most options
need; ``shared.py`` has options that several questions have; ``parameters.py`` checks what the calls of the Python face
take besides. A question's own options are in its folder.
"""
