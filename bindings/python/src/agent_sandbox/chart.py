"""What figures show, as data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

__all__ = [
    "BarChart",
    "BarData",
    "BoxAndWhiskerChart",
    "BoxAndWhiskerData",
    "Chart",
    "Chart2D",
    "ChartData",
    "LineChart",
    "PieChart",
    "PieData",
    "PointChart",
    "PointData",
    "ScatterChart",
    "SuperChart",
]

#: A coordinate or mark: a text where the scale is of times or categories, None where it is no number.
ChartValue = float | int | str | None


class ChartData:
    """Named values of a chart, as the interpreter gave them; one that it did not give is None."""

    _fields: ClassVar[tuple[str, ...]] = ()

    def __init__(self, raw: Mapping[str, Any]) -> None:
        for name in self._fields:
            setattr(self, name, raw.get(name))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._fields)
        return f"{type(self).__name__}({shown})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self._fields)

    __hash__ = None  # type: ignore[assignment]


class PointData(ChartData):
    """One series of points; each is x and y."""

    _fields = ("label", "points")
    label: str
    points: list[tuple[ChartValue, ChartValue]]


class BarData(ChartData):
    """One bar."""

    _fields = ("label", "group", "value")
    label: str
    group: str
    value: ChartValue


class PieData(ChartData):
    """One slice; the angle is in degrees."""

    _fields = ("label", "angle", "radius")
    label: str
    angle: float
    radius: float


class BoxAndWhiskerData(ChartData):
    """One box."""

    _fields = ("label", "min", "first_quartile", "median", "third_quartile", "max", "outliers")
    label: str
    min: float
    first_quartile: float
    median: float
    third_quartile: float
    max: float
    outliers: list[float]


class Chart(ChartData):
    """A chart. ``raw`` is all of it, as it came; a type that nobody knows yet is just this.

    Attributes:
        type: ``line``, ``scatter``, ``bar``, ``pie``, ``box_and_whisker``, ``superchart``, ``unknown``, or a new one.
        title: Its title.
        elements: What it shows.
        raw: Everything as it came.
    """

    _fields: ClassVar[tuple[str, ...]] = ("type", "title", "elements")
    _element: ClassVar[type[ChartData] | None] = None
    type: str
    title: str
    elements: list[Any]
    raw: Mapping[str, Any]

    def __init__(self, raw: Mapping[str, Any]) -> None:
        super().__init__(raw)
        self.raw = raw
        elements = raw.get("elements")
        self.elements = list(self._read(elements if isinstance(elements, list) else []))

    def _read(self, elements: Iterable[Any]) -> Iterable[Any]:
        for element in elements:
            yield self._element(element) if self._element and isinstance(element, Mapping) else element

    def to_json(self) -> Mapping[str, Any]:
        """As it came."""
        return self.raw

    #: E2B's name of it.
    to_dict = to_json


_AXES = ("x_label", "y_label", "x_unit", "y_unit")
_TICKS = ("x_ticks", "x_tick_labels", "x_scale", "y_ticks", "y_tick_labels", "y_scale")


class Chart2D(Chart):
    """A chart with two axes."""

    _fields: ClassVar[tuple[str, ...]] = (*Chart._fields, *_AXES)
    x_label: str | None
    y_label: str | None
    x_unit: str | None
    y_unit: str | None


class PointChart(Chart2D):
    """A chart of points. Scales are ``linear``, ``datetime``, ``categorical``, ``log``, ``symlog``, ``logit``,
    ``function``, ``functionlog``, ``asinh``, or new."""

    _fields = (*Chart2D._fields, *_TICKS)
    _element = PointData
    x_ticks: list[ChartValue]
    x_tick_labels: list[str]
    x_scale: str
    y_ticks: list[ChartValue]
    y_tick_labels: list[str]
    y_scale: str
    elements: list[PointData]


class LineChart(PointChart):
    """Lines through points."""


class ScatterChart(PointChart):
    """Points."""


class BarChart(Chart2D):
    """Bars."""

    _element = BarData
    elements: list[BarData]


class PieChart(Chart):
    """Slices."""

    _element = PieData
    elements: list[PieData]


class BoxAndWhiskerChart(Chart2D):
    """Boxes."""

    _element = BoxAndWhiskerData
    elements: list[BoxAndWhiskerData]


class SuperChart(Chart):
    """A figure with several charts."""

    elements: list[Chart]

    def _read(self, elements: Iterable[Any]) -> Iterable[Any]:
        return (read_chart(element) for element in elements if isinstance(element, Mapping))


_CHARTS: dict[str, type[Chart]] = {
    "line": LineChart,
    "scatter": ScatterChart,
    "bar": BarChart,
    "pie": PieChart,
    "box_and_whisker": BoxAndWhiskerChart,
    "superchart": SuperChart,
}


def read_chart(raw: Mapping[str, Any]) -> Chart:
    """The chart that an interpreter described."""
    kind = raw.get("type")
    return _CHARTS.get(kind if isinstance(kind, str) else "", Chart)(raw)
