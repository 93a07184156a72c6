/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Sandboxes for agents: on this machine, or at any E2B-compatible cloud.
 *
 *     import { Sandbox } from 'agent-sandbox'
 *     await using sandbox = await Sandbox.create('python-base')
 *     const result = await sandbox.commands.run('echo hello')
 *
 * @packageDocumentation
 */

export type { HandleJSON } from './binding.ts'
export type {
  BarChart,
  BarData,
  BoxAndWhiskerChart,
  BoxAndWhiskerData,
  Chart,
  ChartAxes,
  ChartBase,
  ChartScale,
  ChartTicks,
  ChartValue,
  LineChart,
  PieChart,
  PieData,
  PointData,
  ScatterChart,
  SuperChart,
  UnknownChart,
} from './chart.ts'
export { type ClientOptions, pageKey, resolveSettings } from './client.ts'
export type { RunCodeOptions } from './code_runner.ts'
export { CommandHandle } from './command_handle.ts'
export { CommandResult } from './command_result.ts'
export { Commands, type ConnectOptions, type RunOptions, type StartOptions } from './commands.ts'
export { Execution, type Logs, OutputMessage } from './execution.ts'
export {
  type FileFormat,
  Files,
  type FileToWrite,
  type ReadOptions,
  type WatchOptions,
  type WriteOptions,
} from './files.ts'
export type { OutputCallbacks, OutputChunk } from './follower.ts'
export * from './generated/errors.ts'
export * from './generated/public.ts'
export type { CodeError, ResolvedSettings } from './generated/types.ts'
export type { OutputStream } from './output.ts'
export { SandboxPaginator } from './paginator.ts'
export type {
  HostOptions,
  SettingsSource,
  Store,
  WasmModule,
  WasmSource,
} from './platform/platform.ts'
export { Pty, type TerminalConnectOptions, type TerminalOptions } from './pty.ts'
export { type RawResult, Result } from './result.ts'
export { useWasm } from './runtime.ts'
export { type CreateOptions, type ListOptions, Sandbox, type SandboxOptions } from './sandbox.ts'
export type { Data, DataPiece } from './source.ts'
export { WatchHandle } from './watch_handle.ts'
