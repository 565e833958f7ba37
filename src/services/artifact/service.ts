import type { JsonObject } from '../../core/base/json.ts'
import type { Part } from '../../core/content/content.ts'
import type { Page, PageOptions, SessionKey } from '../session/service.ts'

/** Identifies an artifact. */
export interface ArtifactKey {
  /** The app. */
  readonly appName: string
  /** The user. */
  readonly userId: string
  /** The session. */
  readonly sessionId: string
  /** The name. A name that starts with `user:` belongs to the user, in all sessions. */
  readonly filename: string
}

/** One version of an artifact, without its content. */
export interface ArtifactVersion {
  /** The version, from 0. */
  readonly version: number
  /** The media type, if the part has one. */
  readonly mimeType?: string
  /** Seconds since the epoch. */
  readonly createTime: number
  /** The metadata that the caller saved with the version. */
  readonly customMetadata?: JsonObject
}

/** Stores versioned files of sessions and users. Versions start at 0. */
export interface ArtifactService {
  /** Saves a new version. Returns its number. */
  saveArtifact(options: ArtifactKey & { artifact: Part; customMetadata?: JsonObject | undefined }): Promise<number>
  /** Loads a version, by default the latest. Undefined if there is none. */
  loadArtifact(options: ArtifactKey & { version?: number | undefined }): Promise<Part | undefined>
  /** The names of the artifacts of the session and of the user, sorted. */
  listArtifactKeys(options: { appName: string; userId: string; sessionId: string }): Promise<string[]>
  /**
   * A part of the names, sorted. Here `after` and `next` are names. Optional: without it, servers read the whole list.
   */
  listArtifactPage?(
    options: { appName: string; userId: string; sessionId: string } & PageOptions,
  ): Promise<Page<string>>
  /** Deletes all versions of an artifact. */
  deleteArtifact(key: ArtifactKey): Promise<void>
  /**
   * Deletes the artifacts of a session, also those that its list no longer has. Those of the user stay. Optional: without it, they are
   * listed and deleted one by one.
   */
  deleteSession?(key: SessionKey): Promise<void>
  /**
   * Deletes all artifacts of a user, in all sessions, also in deleted ones. Optional: without it, `runner.deleteUser()` lists those of
   * the sessions that exist and deletes them one by one.
   */
  deleteUser?(user: { appName: string; userId: string }): Promise<void>
  /** The numbers of all versions, in ascending order. */
  listVersions(key: ArtifactKey): Promise<number[]>
  /** All versions, in ascending order. */
  listArtifactVersions(key: ArtifactKey): Promise<ArtifactVersion[]>
  /** A part of the versions, in ascending order. Optional: without it, servers read the whole list. */
  listVersionPage?(options: ArtifactKey & PageOptions): Promise<Page<ArtifactVersion>>
  /** A version without its content, by default the latest. Undefined if there is none. */
  getArtifactVersion(options: ArtifactKey & { version?: number | undefined }): Promise<ArtifactVersion | undefined>
}
