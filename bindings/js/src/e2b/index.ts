/**
 * E2B's SDK, by its names: programs written for it change the import.
 *
 *     import { Sandbox } from 'agent-sandbox/e2b' // from 'e2b'
 *
 * Where a sandbox runs is decided as everywhere in this package. docs/e2b.md says what differs.
 *
 * @packageDocumentation
 */

export type {
  EgressProxy as SandboxEgressProxyInfo,
  EgressProxy as SandboxEgressProxyOpts,
  Network as SandboxNetworkInfo,
  ProcessInfo,
  SandboxMetrics,
} from '../index.ts'
export { FilesystemEventType, FileType } from '../index.ts'
export { CodeInterpreterClient, E2B, type E2BClientOpts } from './client.ts'
export type { CommandHandle } from './command_handle.ts'
export type {
  CommandConnectOpts,
  CommandRequestOpts,
  CommandStartOpts,
  Commands,
} from './commands.ts'
export type { EntryInfo, FilesystemEvent, WriteInfo } from './entry.ts'
export {
  AuthenticationError,
  BuildError,
  CommandExitError,
  FileNotFoundError,
  FileUploadError,
  GitAuthError,
  GitUpstreamError,
  InvalidArgumentError,
  NotEnoughSpaceError,
  NotFoundError,
  RateLimitError,
  SandboxError,
  SandboxNotFoundError,
  SecretError,
  SecretNotFoundError,
  ServiceBusyError,
  TemplateError,
  TimeoutError,
  VolumeError,
  VolumeNotFoundError,
  VolumePathNotFoundError,
} from './errors.ts'
export type {
  Filesystem,
  FilesystemListOpts,
  FilesystemReadOpts,
  FilesystemRequestOpts,
  FilesystemWriteOpts,
  WatchOpts,
  WriteEntry,
} from './filesystem.ts'
export type {
  SandboxInfo,
  SandboxInfoLifecycle,
  SandboxListOrder,
  SandboxState,
} from './info.ts'
export { CodeInterpreter } from './interpreter.ts'
export {
  ALL_TRAFFIC,
  type ConnectionConfigOpts,
  type ConnectionOpts,
  type Logger,
  type SandboxApiOpts,
  type SandboxLifecycle,
  type SandboxNetworkOpts,
  type SandboxNetworkRule,
  type SandboxNetworkRules,
  type SandboxNetworkSelector,
  type SandboxNetworkSelectorContext,
  type SandboxNetworkTransform,
  type SandboxNetworkUpdate,
  type SandboxOnResume,
  type SandboxOnTimeout,
  type Username,
} from './options.ts'
export type { SandboxPaginator } from './paginator.ts'
export type { Pty, PtyConnectOpts, PtyCreateOpts } from './pty.ts'
export type { CommandResult } from './result.ts'
export {
  Sandbox,
  Sandbox as default,
  type SandboxConnectOpts,
  type SandboxListOpts,
  type SandboxMetricsOpts,
  type SandboxOpts,
  type SandboxPauseOpts,
} from './sandbox.ts'
export type { WatchHandle } from './watch_handle.ts'
/** Text of stdout. */
export type Stdout = string
/** Text of stderr. */
export type Stderr = string
/** What a terminal shows. */
export type PtyOutput = Uint8Array
