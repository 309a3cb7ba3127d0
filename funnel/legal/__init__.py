"""The pages of legal texts."""
