"""A sandbox of the payment provider: its wire protocol, hosted pages and notifications. No money moves."""

from coffret.sandbox.app import SandboxRefused, close, run_background, sandbox_app, tick
from coffret.sandbox.settings import Deliver, SandboxSettings

__all__ = ["Deliver", "SandboxRefused", "SandboxSettings", "close", "run_background", "sandbox_app", "tick"]
