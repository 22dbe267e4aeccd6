"""Kafka streams."""
