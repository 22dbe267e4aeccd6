"""Risingwave."""
