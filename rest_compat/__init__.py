"""The REST interface for older shops: routes, shapes, pages, error bodies and the OpenAPI description."""
