"""Payment providers: one port (`base`), one package for each provider that takes money through it."""
