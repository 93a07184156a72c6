/** The scale of an axis. Values unknown to us survive. */
export type ChartScale =
  | 'linear'
  | 'datetime'
  | 'categorical'
  | 'log'
  | 'symlog'
  | 'logit'
  | 'function'
  | 'functionlog'
  | 'asinh'
  | (string & {})

/** A coordinate or mark: a text where the scale is of times or categories, null where it is no number. */
export type ChartValue = number | string | null

/** What all charts have. */
export interface ChartBase {
  readonly title: string
}

/** What charts with two axes have. */
export interface ChartAxes {
  readonly x_label?: string | null
  readonly y_label?: string | null
  readonly x_unit?: string | null
  readonly y_unit?: string | null
}

/** Where the axes of points have marks. */
export interface ChartTicks {
  readonly x_ticks: readonly ChartValue[]
  readonly x_tick_labels: readonly string[]
  readonly x_scale: ChartScale
  readonly y_ticks: readonly ChartValue[]
  readonly y_tick_labels: readonly string[]
  readonly y_scale: ChartScale
}

/** One series of points; each is x and y. */
export interface PointData {
  readonly label: string
  readonly points: readonly (readonly [ChartValue, ChartValue])[]
}

/** Lines through points. */
export interface LineChart extends ChartBase, ChartAxes, ChartTicks {
  readonly type: 'line'
  readonly elements: readonly PointData[]
}

/** Points. */
export interface ScatterChart extends ChartBase, ChartAxes, ChartTicks {
  readonly type: 'scatter'
  readonly elements: readonly PointData[]
}

/** One bar. */
export interface BarData {
  readonly label: string
  readonly group: string
  readonly value: ChartValue
}

/** Bars. */
export interface BarChart extends ChartBase, ChartAxes {
  readonly type: 'bar'
  readonly elements: readonly BarData[]
}

/** One slice; the angle is in degrees. */
export interface PieData {
  readonly label: string
  readonly angle: number
  readonly radius: number
}

/** Slices. */
export interface PieChart extends ChartBase {
  readonly type: 'pie'
  readonly elements: readonly PieData[]
}

/** One box. */
export interface BoxAndWhiskerData {
  readonly label: string
  readonly min: number
  readonly first_quartile: number
  readonly median: number
  readonly third_quartile: number
  readonly max: number
  readonly outliers: readonly number[]
}

/** Boxes. */
export interface BoxAndWhiskerChart extends ChartBase, ChartAxes {
  readonly type: 'box_and_whisker'
  readonly elements: readonly BoxAndWhiskerData[]
}

/** A figure with several charts. */
export interface SuperChart extends ChartBase {
  readonly type: 'superchart'
  readonly elements: readonly Chart[]
}

/** A chart that matplotlib's figure is no known kind of. */
export interface UnknownChart extends ChartBase {
  readonly type: 'unknown'
  readonly elements?: readonly unknown[]
}

/**
 * What a figure shows, as data, exactly as the interpreter gave it. `switch (chart.type)` tells
 * which one it is; a type that is new comes as it is, too.
 */
export type Chart =
  | LineChart
  | ScatterChart
  | BarChart
  | PieChart
  | BoxAndWhiskerChart
  | SuperChart
  | UnknownChart
