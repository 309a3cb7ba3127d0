"""Payment providers: the port in `base`, and one package for each adapter."""
