"""What figures show, by E2B's names."""

from __future__ import annotations

from enum import Enum

from ..chart import *
from ..chart import __all__ as _own

__all__ = [*_own, "ChartType", "ScaleType"]


class ChartType(str, Enum):
    """The kinds of charts."""

    LINE = "line"
    SCATTER = "scatter"
    BAR = "bar"
    PIE = "pie"
    BOX_AND_WHISKER = "box_and_whisker"
    SUPERCHART = "superchart"
    UNKNOWN = "unknown"


class ScaleType(str, Enum):
    """The kinds of scales."""

    LINEAR = "linear"
    DATETIME = "datetime"
    CATEGORICAL = "categorical"
    LOG = "log"
    SYMLOG = "symlog"
    LOGIT = "logit"
    FUNCTION = "function"
    FUNCTIONLOG = "functionlog"
    ASINH = "asinh"
    UNKNOWN = "unknown"
