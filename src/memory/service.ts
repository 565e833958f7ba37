import type { Content } from '../content/content.ts'
import type { Session } from '../session/service.ts'

export interface MemoryEntry {
  readonly content: Content
  readonly author?: string
  /** Seconds since the epoch. */
  readonly timestamp?: number
}

/** What a user's earlier sessions said, searchable. */
export interface MemoryService {
  /** Adds the session, or brings what is known of it up to date. */
  addSessionToMemory(session: Session): Promise<void>
  /** Best first. */
  searchMemory(options: {
    appName: string
    userId: string
    query: string
  }): Promise<{ memories: readonly MemoryEntry[] }>
  deleteSession(options: { appName: string; userId: string; sessionId: string }): Promise<void>
  deleteUser(options: { appName: string; userId: string }): Promise<void>
}
