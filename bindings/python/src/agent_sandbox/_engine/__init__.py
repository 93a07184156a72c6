"""The machinery that drives the core: no protocol logic, nothing at import."""
