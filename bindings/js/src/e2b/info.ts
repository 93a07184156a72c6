import type { Network, SandboxInfo as Own } from '../index.ts'

/** Whether it runs. */
export type SandboxState = 'running' | 'paused'
/** By the time of their start. */
export type SandboxListOrder = 'asc' | 'desc'

/** What happens at the end of a sandbox's life, and after. */
export interface SandboxInfoLifecycle {
  onTimeout: 'pause' | 'kill'
  autoResume: boolean
}

/** A sandbox as the account knows it. */
export interface SandboxInfo {
  sandboxId: string
  sandboxDomain?: string
  templateId: string
  name?: string
  metadata: Record<string, string>
  startedAt: Date
  /** The end of time when its life has none. */
  endAt: Date
  state: SandboxState
  cpuCount: number
  /** MiB. */
  memoryMB: number
  envdVersion: string
  allowInternetAccess?: boolean | undefined
  network?: Network
  lifecycle?: SandboxInfoLifecycle
  /** Always empty. */
  volumeMounts?: { name: string; path: string }[]
  /** What separates it from its host: namespaces, gvisor, vm or unknown. */
  isolation?: string
}

const endOfTime = 8_640_000_000_000_000

/** The same by E2B's names. */
export function infoOf(own: Own): SandboxInfo {
  const { domain, name, allowInternetAccess, network, isolation } = own
  return {
    sandboxId: own.sandboxId,
    ...(domain !== undefined && { sandboxDomain: domain }),
    templateId: own.templateId,
    ...(name !== undefined && { name }),
    metadata: own.metadata,
    startedAt: own.startedAt,
    endAt: own.endAt ?? new Date(endOfTime),
    state: own.state as SandboxState,
    cpuCount: own.cpuCount,
    memoryMB: own.memoryMb,
    envdVersion: own.envdVersion,
    ...(allowInternetAccess !== undefined && { allowInternetAccess }),
    ...(network !== undefined && { network }),
    lifecycle: {
      onTimeout: own.onTimeout === 'pause' ? 'pause' : 'kill',
      autoResume: own.autoResume,
    },
    volumeMounts: [],
    ...(isolation !== undefined && { isolation }),
  }
}
