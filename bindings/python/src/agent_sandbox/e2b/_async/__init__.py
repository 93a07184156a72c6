"""The classes for asyncio."""
