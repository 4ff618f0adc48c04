"""Amounts as people read them: bytes, and times to wait."""

from __future__ import annotations


def duration_text(seconds: float) -> str:
    """A time to wait, coarser the longer it is.

    >>> duration_text(0.4), duration_text(12.3), duration_text(200), duration_text(7300)
    ('< 1 s', '12 s', '3 min', '2 h 2 min')
    """
    if seconds < 1.0:
        return "< 1 s"
    # Rounded up, 99.5 would be three digits of seconds.
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60.0)
    if minutes < 100:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} days"


def size_text(size: float) -> str:
    """Bytes as people read them.

    >>> size_text(999), size_text(18_400_000), size_text(2.5e9), size_text(3e12)
    ('1 kB', '18.4 MB', '2.5 GB', '3.0 TB')
    """
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= factor:
            return f"{size / factor:.{1 if size < 100 * factor else 0}f} {unit}"
    return f"{size / 1e3:.0f} kB"
