"""What runs in continuous integration: the GitHub action, the GitLab template, the pre-commit hooks."""
