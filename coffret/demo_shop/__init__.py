"""A shop outside Coffret, played by Coffret itself: where the demo's carts come from and its customers go back to."""

from coffret.demo_shop.page import routes

__all__ = ["routes"]
