"""Memory that was freed, and that the C library keeps."""

from __future__ import annotations

#: From so many freed bytes on it is worth the while.
_MUCH = 32 << 20


def give_back(freed: int) -> None:
    """Gives what was freed back to the system, where there is much of it. glibc returns blocks of the size
    that networks deliver only from the end of its heap, where something else lies nearly always."""
    if freed < _MUCH:
        return
    import ctypes

    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):
        return  # another C library
