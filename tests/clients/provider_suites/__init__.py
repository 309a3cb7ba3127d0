"""The test suites of the provider's own SDKs, run unchanged against the sandbox. Nothing of them is stored here."""
