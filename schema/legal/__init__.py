"""Legal texts of partners: terms, privacy, imprint and withdrawal."""
