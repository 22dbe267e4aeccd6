"""What users install: wheel and sdist, in clean environments, away from the project."""
