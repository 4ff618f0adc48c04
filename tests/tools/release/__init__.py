"""`make release`: wheel, source archive, bundle and site from a clean clone, each checked."""
