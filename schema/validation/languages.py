"""The eight languages that Coffret publishes, speaks and writes."""

LANGUAGES = ("en", "fr", "es", "it", "de", "nl", "ca", "pt")
