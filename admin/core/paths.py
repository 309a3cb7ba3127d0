"""Addresses of the back office."""

ROOT = "/admin/"
LOG_IN_PATH = f"{ROOT}log-in/"
