"""Maintainers' commands: measurements, fault injection, random studies and builds."""
