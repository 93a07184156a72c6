"""Makes errors as the core says them."""

import pickle

from made import errors
from made.errors import SandboxError, error_from_json

CAUGHT = {
    ("E1001", None): ("InvalidAPIKeyError", errors.AuthenticationError),
    ("E3001", None): ("CommandTimeoutError", TimeoutError),
    ("E3005", None): ("ConnectionLostError", ConnectionError),
    ("E4000", None): ("FileOperationError", OSError),
    ("E4001", None): ("SandboxFileNotFoundError", FileNotFoundError),
    ("E4002", None): ("FilePermissionError", PermissionError),
    ("E4003", "exists"): ("PathExistsError", FileExistsError),
    ("E4003", "not_a_directory"): ("PathNotDirectoryError", NotADirectoryError),
    ("E4003", "is_a_directory"): ("PathIsDirectoryError", IsADirectoryError),
    ("E4003", "odd"): ("PathKindError", errors.FileOperationError),
    ("E5001", None): ("ConnectFailedError", ConnectionError),
    ("E5002", None): ("RequestTimeoutError", TimeoutError),
    ("E8000", None): ("InvalidArgumentError", ValueError),
    ("E9999", None): ("SandboxError", SandboxError),
}
for (code, kind), (name, builtin) in CAUGHT.items():
    said = {"code": code, "message": "no", "suggestion": "do", "retry_after_ms": 1500, "limit_ms": 0, "killed": True, "status": 404, "pid": 7}
    if kind:
        said["kind"] = kind
    e = error_from_json(said, partial="p")
    assert type(e).__name__ == name and isinstance(e, builtin) and isinstance(e, SandboxError), e
    for one in (e, pickle.loads(pickle.dumps(e))):
        assert type(one) is type(e)
        assert str(one) == f"{code}: no (do)" and repr(one) == f"{name}('{code}: no (do)')", repr(one)
        assert (one.code, one.message, one.suggestion, one.partial, one.kind) == (code, "no", "do", "p", kind)
        assert (one.retry_after, one.limit, one.killed, one.retryable, one.status, one.pid) == (1.5, 0, True, False, 404, 7)
    try:
        raise e
    except builtin as caught:
        assert caught is e

exists = error_from_json({"code": "E4003", "message": "m", "kind": "exists"})
assert isinstance(exists, errors.PathKindError) and not isinstance(exists, NotADirectoryError)
plain = errors.NoSpaceError("full")
assert plain.code == "E4004" and str(plain) == "E4004: full" and plain.args == ("full",)

spelt = error_from_json(
    {
        "code": "E8000",
        "message": "timeout_ms must be less than mounts.from_ms",
        "message_parts": [{"option": "timeout_ms"}, {"text": " must be less than "}, {"option": "mounts.from_ms"}],
        "suggestion": "leave out api_key",
        "suggestion_parts": [{"text": "leave out "}, {"option": "api_key"}],
        "option": "timeout_ms",
    }
)
assert str(spelt) == "E8000: timeout must be less than mounts.from_ (leave out api_key)", str(spelt)
assert (spelt.option, plain.option) == ("timeout", None)
