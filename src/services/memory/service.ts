import type { Content } from '../../core/content/content.ts'
import type { Page, PageOptions, Session } from '../session/service.ts'

/** A message of an earlier session. */
export interface MemoryEntry {
  /** The message. */
  readonly content: Content
  /** The user or the agent that wrote it. */
  readonly author?: string
  /** Seconds since the epoch. */
  readonly timestamp?: number
}

/** A message that is stored in the memory of a user, with the session it comes from. */
export interface StoredMemory {
  /** The session. */
  readonly sessionId: string
  /** The message. */
  readonly memory: MemoryEntry
}

/** Searches the earlier sessions of a user. */
export interface MemoryService {
  /** Adds a session, or replaces the earlier version of it. */
  addSessionToMemory(session: Session): Promise<void>
  /** The messages of the user's sessions that match a query, best first. */
  searchMemory(options: {
    appName: string
    userId: string
    query: string
  }): Promise<{ memories: readonly MemoryEntry[] }>
  /** Removes a session from the memory. */
  deleteSession(options: { appName: string; userId: string; sessionId: string }): Promise<void>
  /** Removes all sessions of a user from the memory. */
  deleteUser(options: { appName: string; userId: string }): Promise<void>
  /** A part of the stored messages of a user. Optional: without it, an export has none. */
  listMemories?(options: { appName: string; userId: string } & PageOptions): Promise<Page<StoredMemory>>
}
