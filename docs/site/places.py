"""Folders of the documents, of the site's sources, and of the finished site."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
OWN = Path(__file__).resolve().parent
BUILD = ROOT / "build"
SOURCES = BUILD / "site-source"  # what Sphinx reads
RESULTS = BUILD / "site-runs"  # what quick runs came to, kept from one build to the next
SITE = ROOT / "resources" / "site"  # what Help opens
