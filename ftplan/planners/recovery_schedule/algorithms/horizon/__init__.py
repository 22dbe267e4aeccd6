"""The whole repair as one choice: priority-time and fidelity-time."""
