"""The start page of a development installation: links, log-ins and examples."""

from coffret.start_page.page import routes

__all__ = ["routes"]
