"""Plots and pages, drawn from plans. The libraries that draw are an extra and loaded when they are needed."""
