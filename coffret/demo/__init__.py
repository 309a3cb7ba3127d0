"""What a development installation starts with: a marketplace, two shops, log-ins."""
