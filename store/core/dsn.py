"""Addresses of PostgreSQL."""


def dsn(url: str) -> str:
    """Any PostgreSQL address as the driver reads it, options such as `?sslmode=require` included."""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme.split("+")[0] not in {"postgres", "postgresql"}:
        raise ValueError(f"DATABASE_URL must start with postgresql://, not {scheme!r}.")
    return f"postgresql://{rest}"
