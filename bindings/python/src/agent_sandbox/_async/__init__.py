"""The classes, for asyncio. The blocking ones are made from them: see _sync."""
