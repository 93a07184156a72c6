"""The one thin place that goes past wasmtime's public API.

A public ``Func`` call costs about 27 us, most of it in asking the function for its type; the same
call through arguments that are made once, 2 us. Imports are alike: a clock that is asked costs more
than what it is asked for. Where this wasmtime does not look as expected, the public way takes its
place.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import CFUNCTYPE, POINTER, byref, c_void_p
from ctypes import cast as cast_pointer
from typing import Any, cast

from wasmtime import Caller, Func, FuncType, Linker, Memory, Store, WasmtimeError

#: A function of one u32, or of none, that gives a u32.
Call = Callable[..., int]

#: Gives the bytes of a memory.
Size = Callable[[], int]


def hot_call(store: Store, func: Func) -> Call:
    """A function u32 -> u32 of an instance, as fast as it can be had."""
    try:
        return _hot_call(store, func)
    except (AttributeError, TypeError, ImportError):
        return public_call(store, func)


def public_call(store: Store, func: Func) -> Call:
    """The same by the public API."""
    return lambda n: int(func(store, _signed(n))) & 0xFFFFFFFF


def _signed(n: int) -> int:
    return n - (1 << 32) if n >> 31 else n


def _hot_call(store: Store, func: Func) -> Call:
    from wasmtime import Trap, _ffi

    ffi = cast(Any, _ffi)
    kind = func.type(store)
    if len(kind.params) != 1 or len(kind.results) != 1:
        raise TypeError("not a function of one u32")
    call = ffi._bindings._wasmtime_func_call if hasattr(ffi, "_bindings") else ffi.wasmtime_func_call
    context, pointer = cast(Any, store)._context(), byref(cast(Any, func)._func)
    params, results = (ffi.wasmtime_val_t * 1)(), (ffi.wasmtime_val_t * 1)()
    params[0].kind = ffi.WASMTIME_I32
    argument, result = params[0].of, results[0]
    trap = POINTER(ffi.wasm_trap_t)()
    trap_pointer = byref(trap)

    def hot(n: int) -> int:
        argument.i32 = n
        error = call(context, pointer, params, 1, results, 1, trap_pointer)
        if error:
            raise cast(Any, WasmtimeError)._from_ptr(error)
        if trap:
            raise cast(Any, Trap)._from_ptr(trap)
        return cast(int, result.of.i32) & 0xFFFFFFFF

    return hot


def hot_size(store: Store, memory: Memory) -> Size:
    """The size of a memory, as fast as it can be had."""
    try:
        return _hot_size(store, memory)
    except (AttributeError, TypeError, ImportError):
        return lambda: memory.data_len(store)


def _hot_size(store: Store, memory: Memory) -> Size:
    from wasmtime import _ffi

    size = cast(Any, _ffi).wasmtime_memory_data_size
    context, pointer = cast(Any, store)._context(), byref(cast(Any, memory)._memory)
    measured: Size = lambda: size(context, pointer)  # noqa: E731
    if measured() != memory.data_len(store):
        raise TypeError("the memory does not answer as expected")
    return measured


#: A function of the caller, or only a pointer to it, and its arguments, all unsigned, that gives an i32.
Import = Callable[..., int]

#: A module, and the name of an import of it.
Name = tuple[str, str]


def hot_import(linker: Linker, name: Name, kind: FuncType, function: Import) -> Any:
    """Offers a function to a module, as cheaply as it can be. Keep the result as long as the module's
    instance."""
    try:
        return _hot_import(linker, name, kind, function)
    except (AttributeError, TypeError, ImportError):
        return public_import(linker, name, kind, function)


def public_import(linker: Linker, name: Name, kind: FuncType, function: Import) -> Any:
    """The same by the public API."""

    def public(caller: Caller, *arguments: int) -> int:
        return function(caller, *(n & 0xFFFFFFFF for n in arguments))

    linker.define_func(*name, kind, public, True)
    return public


def _hot_import(linker: Linker, name: Name, kind: FuncType, function: Import) -> Any:
    from wasmtime import Trap, _ffi

    ffi = cast(Any, _ffi)
    count = len(kind.params)

    def called(_: Any, caller: Any, values: Any, __: Any) -> int:
        try:
            values[0].i32 = function(caller, *[values[i].i32 & 0xFFFFFFFF for i in range(count)])
        except BaseException as error:
            trap = cast(Any, Trap(f"an import failed: {type(error).__name__}"))._consume()
            return cast(int, cast_pointer(trap, c_void_p).value)
        return 0

    callback = ffi.wasmtime_func_unchecked_callback_t(called)
    module, field = (part.encode() for part in name)
    error = ffi.wasmtime_linker_define_func_unchecked(
        cast(Any, linker).ptr(), module, len(module), field, len(field), cast(Any, kind).ptr(), callback, None, _FREE
    )
    if error:
        raise cast(Any, WasmtimeError)._from_ptr(error)
    return callback


_FREE = CFUNCTYPE(None, c_void_p)()
