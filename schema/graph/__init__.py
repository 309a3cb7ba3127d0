"""GraphQL: fields made of operations and lists, the compiled executor, the view."""
