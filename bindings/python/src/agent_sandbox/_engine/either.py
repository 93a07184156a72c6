"""A method that works on an object, and on its class with an id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
T = TypeVar("T")


class Either(Generic[P, Q, R]):
    """``instance`` is a method; ``static`` a class method that takes the place of it on the class."""

    def __init__(self, instance: Callable[Concatenate[Any, P], R], static: Callable[Concatenate[Any, Q], R]) -> None:
        self._instance = instance
        self._static: Any = static
        self.__doc__ = instance.__doc__

    @overload
    def __get__(self, one: None, owner: type[Any]) -> Callable[Q, R]: ...

    @overload
    def __get__(self, one: object, owner: type[Any]) -> Callable[P, R]: ...

    def __get__(self, one: object | None, owner: type[Any]) -> Callable[..., R]:
        if one is None:
            bound: Callable[..., R] = self._static.__get__(None, owner)
        else:
            bound = self._instance.__get__(one, owner)
        return bound
