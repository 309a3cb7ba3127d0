"""A partner's own shop, simulated by Coffret: the demo's carts start here and its customers return here."""

from coffret.demo_shop.page import routes

__all__ = ["routes"]
