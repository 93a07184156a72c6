/**
 * E2B's code interpreter SDK, by its names: what `agent-sandbox/e2b` has, with a `Sandbox` that runs code.
 *
 *     import { Sandbox } from 'agent-sandbox/e2b/code-interpreter' // from '@e2b/code-interpreter'
 *
 * @packageDocumentation
 */

export type {
  BarChart,
  BarData,
  BoxAndWhiskerChart,
  BoxAndWhiskerData,
  Chart,
  Chart as ChartTypes,
  Execution,
  LineChart,
  Logs,
  PieChart,
  PieData,
  PointData,
  RawResult as RawData,
  Result,
  ScatterChart,
  SuperChart,
} from '../index.ts'
export type {
  ChartType,
  Context,
  CreateCodeContextOpts,
  ExecutionError,
  MIMEType,
  OutputMessage,
  RunCodeLanguage,
  RunCodeOpts,
  ScaleType,
} from './execution.ts'
export * from './index.ts'
export {
  CodeInterpreter as default,
  CodeInterpreter as Sandbox,
  CodeInterpreterClient as E2B,
} from './index.ts'
