import type { JsonObject } from '../../core/base/json.ts'
import type { AuthConfig, AuthCredential } from '../../core/content/auth.ts'
import type { Part } from '../../core/content/content.ts'
import type { CredentialOptions, CredentialOutcome } from '../../services/auth/resolve-credential.ts'
import type { MemoryEntry } from '../../services/memory/service.ts'
import { CallSchedules } from './call-schedules.ts'
import type { RunCallbackContext } from './callback-context.ts'
import type { ToolSchedule, ToolScheduleOptions } from './tool-scheduling.ts'

const NO_SCHEDULES = new CallSchedules({ agentName: '', userId: '', sessionId: '', key: '' }, undefined)

/** The services of a context that passes its work to a `RunCallbackContext`. */
export abstract class ForwardingContext {
  /** The context that does the work. */
  protected abstract readonly target: RunCallbackContext
  /** What the call schedules. Default: only calls of tools do. */
  protected get schedules(): CallSchedules {
    return NO_SCHEDULES
  }

  /** Saves a new version of an artifact and returns its version number. */
  saveArtifact(filename: string, part: Part, options?: { customMetadata?: JsonObject | undefined }): Promise<number> {
    return this.target.saveArtifact(filename, part, options)
  }
  /** Loads an artifact, by default its latest version. */
  loadArtifact(filename: string, version?: number): Promise<Part | undefined> {
    return this.target.loadArtifact(filename, version)
  }
  /** Lists the names of the artifacts. */
  listArtifacts(): Promise<string[]> {
    return this.target.listArtifacts()
  }
  /** Searches the memory of the user. */
  searchMemory(query: string): Promise<readonly MemoryEntry[]> {
    return this.target.searchMemory(query)
  }
  /** Starts runs of the user at given times. Throws if the agent has no `allowScheduling`. */
  schedule(options: ToolScheduleOptions): Promise<ToolSchedule> {
    return this.schedules.create(options)
  }
  /** Deletes a schedule that a tool has created for this user. */
  unschedule(id: string): Promise<boolean> {
    return this.schedules.delete(id)
  }
  /** Loads a credential of the user as it was saved. */
  loadCredential(key: string): Promise<AuthCredential | undefined> {
    return this.target.loadCredential(key)
  }
  /** Saves a credential of the user. */
  saveCredential(key: string, credential: AuthCredential): Promise<void> {
    return this.target.saveCredential(key, credential)
  }
  /** Does the user have a credential under this key? */
  hasCredential(key: string): Promise<boolean> {
    return this.target.hasCredential(key)
  }
  /** Returns a credential that the API accepts, or `needs-auth`. */
  getCredential(key: string, authConfig: AuthConfig, options?: CredentialOptions): Promise<CredentialOutcome> {
    return this.target.getCredential(key, authConfig, options)
  }
}
