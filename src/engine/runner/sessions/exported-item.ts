import type { JsonObject } from '../../../core/base/json.ts'
import type { Part } from '../../../core/content/content.ts'
import type { Entry } from '../../../core/event/event.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { ArtifactVersion } from '../../../services/artifact/service.ts'
import type { MemoryEntry } from '../../../services/memory/service.ts'
import type { StoredSchedule } from '../../../services/schedule/service.ts'

/** One item of `runner.exportUser()`. It is JSON. */
export type ExportedItem =
  /** The `user:` state. */
  | { readonly type: 'state'; readonly state: JsonObject }
  /** A session, with its own state. Its entries follow. */
  | {
      readonly type: 'session'
      readonly sessionId: string
      readonly lastUpdateTime: number
      readonly state: JsonObject
    }
  /** An entry of the log of a session. */
  | { readonly type: 'entry'; readonly sessionId: string; readonly entry: Entry }
  /** A request that waits for an answer. */
  | { readonly type: 'pending'; readonly sessionId: string; readonly request: PendingRequest }
  /** A version of an artifact. One of the user has no session. */
  | {
      readonly type: 'artifact'
      readonly sessionId?: string
      readonly filename: string
      readonly version: ArtifactVersion
      readonly part: Part
    }
  /** A schedule. */
  | { readonly type: 'schedule'; readonly schedule: StoredSchedule }
  /** A message that the memory has. */
  | { readonly type: 'memory'; readonly sessionId: string; readonly memory: MemoryEntry }
  /** The key of a credential. Its secret is never exported. */
  | { readonly type: 'credential'; readonly key: string }
  /** Something that is stored and cannot be read. The logger has the error. */
  | { readonly type: 'unreadable'; readonly what: string }

/** Reads something, or reports that it cannot be read. */
export type ReadOrReport = <T>(what: string, read: () => Promise<T>) => Promise<T | undefined>
