"""The interval between checkpoints: asked for, chosen, told."""
