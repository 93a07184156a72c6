package core

import "encoding/json"

// Chart is what a figure shows, as data: a *LineChart, *ScatterChart, *BarChart,
// *PieChart, *BoxAndWhiskerChart, *SuperChart, or *UnknownChart.
type Chart interface {
	// Kind is its type.
	Kind() ChartType
	// Heading is its title; may be empty.
	Heading() string
	// JSON is the chart as it came.
	JSON() json.RawMessage
}

// ChartType is the kind of a chart. Values unknown to us survive, in an
// *UnknownChart.
type ChartType string

// The chart types.
const (
	ChartLine          ChartType = "line"
	ChartScatter       ChartType = "scatter"
	ChartBar           ChartType = "bar"
	ChartPie           ChartType = "pie"
	ChartBoxAndWhisker ChartType = "box_and_whisker"
	ChartSuper         ChartType = "superchart"
	ChartUnknown       ChartType = "unknown"
)

// ChartScale is the scale of an axis. Values unknown to us survive.
type ChartScale string

// The scales.
const (
	ScaleLinear      ChartScale = "linear"
	ScaleDatetime    ChartScale = "datetime"
	ScaleCategorical ChartScale = "categorical"
	ScaleLog         ChartScale = "log"
	ScaleSymlog      ChartScale = "symlog"
	ScaleLogit       ChartScale = "logit"
	ScaleFunction    ChartScale = "function"
	ScaleFunctionLog ChartScale = "functionlog"
	ScaleAsinh       ChartScale = "asinh"
)

// ChartBase is what all charts have.
type ChartBase struct {
	Type  ChartType `json:"type"`
	Title string    `json:"title"`

	raw json.RawMessage
}

// Kind is the chart's type.
func (c *ChartBase) Kind() ChartType { return c.Type }

// Heading is the chart's title.
func (c *ChartBase) Heading() string { return c.Title }

// JSON is the chart as it came.
func (c *ChartBase) JSON() json.RawMessage { return c.raw }

// MarshalJSON writes the chart as it came.
func (c *ChartBase) MarshalJSON() ([]byte, error) { return c.raw, nil }

func (c *ChartBase) keep(raw json.RawMessage) { c.raw = raw }

// Axes are what charts with two axes have.
type Axes struct {
	XLabel string `json:"x_label"`
	YLabel string `json:"y_label"`
	XUnit  string `json:"x_unit"`
	YUnit  string `json:"y_unit"`
}

// Ticks are where the axes of points have marks. A mark, like a coordinate, is a
// float64, or a string where the scale is of times or categories, or nil where it
// is no number.
type Ticks struct {
	XTicks      []any      `json:"x_ticks"`
	XTickLabels []string   `json:"x_tick_labels"`
	XScale      ChartScale `json:"x_scale"`
	YTicks      []any      `json:"y_ticks"`
	YTickLabels []string   `json:"y_tick_labels"`
	YScale      ChartScale `json:"y_scale"`
}

// PointData is one series of points; each is x and y.
type PointData struct {
	Label  string  `json:"label"`
	Points [][]any `json:"points"`
}

// LineChart has lines through points.
type LineChart struct {
	ChartBase
	Axes
	Ticks
	Elements []PointData `json:"elements"`
}

// ScatterChart has points.
type ScatterChart struct {
	ChartBase
	Axes
	Ticks
	Elements []PointData `json:"elements"`
}

// BarData is one bar. Its value is a float64, or a string.
type BarData struct {
	Label string `json:"label"`
	Group string `json:"group"`
	Value any    `json:"value"`
}

// BarChart has bars.
type BarChart struct {
	ChartBase
	Axes
	Elements []BarData `json:"elements"`
}

// PieData is one slice.
type PieData struct {
	Label  string  `json:"label"`
	Angle  float64 `json:"angle"` // degrees
	Radius float64 `json:"radius"`
}

// PieChart has slices.
type PieChart struct {
	ChartBase
	Elements []PieData `json:"elements"`
}

// BoxAndWhiskerData is one box.
type BoxAndWhiskerData struct {
	Label         string    `json:"label"`
	Min           float64   `json:"min"`
	FirstQuartile float64   `json:"first_quartile"`
	Median        float64   `json:"median"`
	ThirdQuartile float64   `json:"third_quartile"`
	Max           float64   `json:"max"`
	Outliers      []float64 `json:"outliers"`
}

// BoxAndWhiskerChart has boxes.
type BoxAndWhiskerChart struct {
	ChartBase
	Axes
	Elements []BoxAndWhiskerData `json:"elements"`
}

// SuperChart is a figure with several charts.
type SuperChart struct {
	ChartBase
	Elements []Chart `json:"-"`
}

// UnknownChart is one whose type, or form, we do not know; JSON has it all.
type UnknownChart struct{ ChartBase }

// readable is a chart that JSON is read into.
type readable interface {
	Chart
	keep(raw json.RawMessage)
}

// readChart reads what came. A chart in an odd form is still one: an *UnknownChart.
func readChart(raw json.RawMessage) Chart {
	var base struct {
		Type ChartType `json:"type"`
	}
	_ = json.Unmarshal(raw, &base)
	var c readable
	switch base.Type {
	case ChartLine:
		c = &LineChart{}
	case ChartScatter:
		c = &ScatterChart{}
	case ChartBar:
		c = &BarChart{}
	case ChartPie:
		c = &PieChart{}
	case ChartBoxAndWhisker:
		c = &BoxAndWhiskerChart{}
	case ChartSuper:
		return readSuper(raw)
	}
	if c == nil || json.Unmarshal(raw, c) != nil {
		return unknownChart(raw)
	}
	c.keep(raw)
	return c
}

func unknownChart(raw json.RawMessage) Chart {
	u := &UnknownChart{}
	_ = json.Unmarshal(raw, &u.ChartBase)
	if u.Type == "" {
		u.Type = ChartUnknown
	}
	u.keep(raw)
	return u
}

func readSuper(raw json.RawMessage) Chart {
	var s struct {
		Type     ChartType         `json:"type"`
		Title    string            `json:"title"`
		Elements []json.RawMessage `json:"elements"`
	}
	if json.Unmarshal(raw, &s) != nil {
		return unknownChart(raw)
	}
	c := &SuperChart{ChartBase: ChartBase{s.Type, s.Title, raw}}
	for _, one := range s.Elements {
		c.Elements = append(c.Elements, readChart(one))
	}
	return c
}
