"""The payment provider's sandbox: its wire protocol, hosted pages and notifications, without any money."""

from coffret.sandbox.app import SandboxRefused, close, run_background, sandbox_app, tick
from coffret.sandbox.settings import Deliver, SandboxSettings

__all__ = ["Deliver", "SandboxRefused", "SandboxSettings", "close", "run_background", "sandbox_app", "tick"]
