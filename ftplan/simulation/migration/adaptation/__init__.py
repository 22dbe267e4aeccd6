"""Adaptation."""
