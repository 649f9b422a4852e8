"""Drawings and files of one call's schedules and of its simulated time."""
