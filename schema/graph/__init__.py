"""GraphQL: fields built from operations and lists, the compiled executor, and the HTTP view."""
