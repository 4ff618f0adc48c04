"""Makes the web site of the documents: pages of `docs`, of every study, and of the registries."""
