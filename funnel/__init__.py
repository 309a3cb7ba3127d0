"""The checkout and the other pages for customers, rendered on the server in eight languages.

`routes.routes(settings)` returns everything that the application mounts. Every page works without JavaScript. Business
rules are not decided here.
"""
