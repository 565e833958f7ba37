import type { JsonObject } from '../base/json.ts'
import type { Part } from '../content/content.ts'

/** Where an artifact lives; a filename that starts with `user:` belongs to the user, not to the session. */
export interface ArtifactKey {
  readonly appName: string
  readonly userId: string
  readonly sessionId: string
  readonly filename: string
}

export interface ArtifactVersion {
  readonly version: number
  readonly mimeType?: string
  /** Seconds since the epoch. */
  readonly createTime: number
  readonly customMetadata?: JsonObject
}

/** Versioned files of a session or a user. Versions start at 0; what is missing is `undefined`. */
export interface ArtifactService {
  saveArtifact(options: ArtifactKey & { artifact: Part; customMetadata?: JsonObject | undefined }): Promise<number>
  loadArtifact(options: ArtifactKey & { version?: number | undefined }): Promise<Part | undefined>
  /** Names of the session's artifacts and the user's own, sorted. */
  listArtifactKeys(options: { appName: string; userId: string; sessionId: string }): Promise<string[]>
  deleteArtifact(key: ArtifactKey): Promise<void>
  listVersions(key: ArtifactKey): Promise<number[]>
  listArtifactVersions(key: ArtifactKey): Promise<ArtifactVersion[]>
  getArtifactVersion(options: ArtifactKey & { version?: number | undefined }): Promise<ArtifactVersion | undefined>
}
