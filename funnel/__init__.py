"""How a customer asks: the checkout's pages, rendered on the server, in eight languages.

`routes.routes(settings)` is all that the application mounts. Every page works without JavaScript; nothing here decides
anything about the business.
"""
