"""How connections of clients are served: how long is waited for them, how many there may be, how they end."""
