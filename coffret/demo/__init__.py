"""The demo data of a development installation: a marketplace, two shops and log-ins."""
