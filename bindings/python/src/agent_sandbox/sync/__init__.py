"""The blocking classes: usable from any thread, also where an event loop runs.

from agent_sandbox.sync import Sandbox

with Sandbox.create(template="python-base") as sandbox:
    print(sandbox.commands.run("echo hello").stdout)
"""

from .._sync.commands import Commands
from .._sync.files import Files
from .._sync.handle import CommandHandle
from .._sync.paginator import SandboxPaginator
from .._sync.pty import Pty
from .._sync.sandbox import Sandbox
from .._sync.watch import WatchHandle

__all__ = ["CommandHandle", "Commands", "Files", "Pty", "Sandbox", "SandboxPaginator", "WatchHandle"]
