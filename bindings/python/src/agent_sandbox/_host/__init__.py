"""What the core asks of a host: HTTP, WebSockets, timers, files, the local server.

Everything here lives on one asyncio event loop and knows no protocol above HTTP.
Nothing runs at import, and no module outside the standard library is imported
before it is needed.
"""
