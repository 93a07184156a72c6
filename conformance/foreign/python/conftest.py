"""One suite for both Python clients: every test runs with the blocking one and
with the asyncio one, through the same names."""

import asyncio
import inspect
import os
import time
from urllib.parse import urlsplit

import e2b
import httpx
import pytest
import pytest_asyncio


class Client:
    """The blocking or the asyncio client."""

    def __init__(self, kind):
        self.kind = kind
        self.is_async = kind == "async"
        self.Sandbox = e2b.AsyncSandbox if self.is_async else e2b.Sandbox

    async def __call__(self, call, *args, **kwargs):
        """Calls a method of the client, in a thread if it blocks."""
        if self.is_async:
            got = call(*args, **kwargs)
            return await got if inspect.isawaitable(got) else got
        return await asyncio.to_thread(call, *args, **kwargs)

    async def create(self, *args, **kwargs):
        kwargs.setdefault("timeout", 120)
        return await self(self.Sandbox.create, *args, **kwargs)

    async def wait(self, handle):
        return await self(handle.wait)


@pytest.fixture(scope="module", params=["sync", "async"])
def client(request):
    return Client(request.param)


@pytest_asyncio.fixture(scope="module")
async def box(client):
    made = await client.create(envs={"FROM_SANDBOX": "sandbox", "BOTH": "sandbox"})
    yield made
    await client(made.kill)


@pytest_asyncio.fixture
async def create(client):
    """Makes sandboxes that end with the test."""
    boxes = []

    async def make(*args, **kwargs):
        boxes.append(await client.create(*args, **kwargs))
        return boxes[-1]

    yield make
    await asyncio.gather(*(client(made.kill) for made in boxes))


@pytest.fixture
def until():
    async def wait(what, check, limit=8.0):
        end = time.monotonic() + limit
        while True:
            got = check()
            if inspect.isawaitable(got):
                got = await got
            if got:
                return got
            assert time.monotonic() < end, f"not within {limit} s: {what}"
            await asyncio.sleep(0.02)

    return wait


@pytest_asyncio.fixture
async def get():
    """Asks the server's address for a host by name, so that no name has to resolve."""
    netloc = urlsplit(os.environ["E2B_API_URL"]).netloc
    async with httpx.AsyncClient() as http:

        async def ask(host, path="/", headers=None):
            return await http.get(f"http://{netloc}{path}", headers={**(headers or {}), "Host": host})

        yield ask
