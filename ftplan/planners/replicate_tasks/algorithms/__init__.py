"""Which tasks get an active replica."""
