import type {
  FilesystemEventType,
  FileType,
  EntryInfo as OwnEntry,
  FilesystemEvent as OwnEvent,
  WriteInfo as OwnWritten,
} from '../index.ts'

/** A file that was written. */
export interface WriteInfo {
  name: string
  type?: FileType
  path: string
  /** Undefined when it has none. */
  metadata?: Record<string, string>
}

/** A file or directory. For a symlink, its type is its target's. */
export interface EntryInfo extends WriteInfo {
  size: number
  mode: number
  permissions: string
  owner: string
  group: string
  modifiedTime?: Date
  symlinkTarget?: string
}

/** A change below a directory. */
export interface FilesystemEvent {
  name: string
  type: FilesystemEventType
  entry?: EntryInfo
}

/** The same by E2B's names. */
export function entryOf(own: OwnEntry): EntryInfo
export function entryOf(own: OwnWritten): WriteInfo
export function entryOf(own: OwnWritten): WriteInfo {
  const { metadata, ...rest } = own
  return Object.keys(metadata).length > 0 ? { ...rest, metadata } : rest
}

/** The same by E2B's names. */
export function eventOf(own: OwnEvent): FilesystemEvent {
  const { entry, ...rest } = own
  return entry ? { ...rest, entry: entryOf(entry) } : rest
}
