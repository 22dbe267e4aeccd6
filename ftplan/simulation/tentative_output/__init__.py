"""Tentative output."""
