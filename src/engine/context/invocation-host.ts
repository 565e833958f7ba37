import type { Content } from '../../core/content/content.ts'
import type { ArtifactService } from '../../services/artifact/service.ts'
import type { AuthServices } from '../../services/auth/auth-services.ts'
import type { CredentialService } from '../../services/credential/service.ts'
import type { SlotHolder } from '../../services/limit/slot-holder.ts'
import type { MemoryService } from '../../services/memory/service.ts'
import type { FindsSessions } from '../../services/session/find-deleted.ts'
import type { Session, SessionService, StateReader } from '../../services/session/service.ts'
import type { LiveInputSource } from '../model/live-input.ts'
import type { RunConfig } from './run-config.ts'
import type { RunContext } from './run-context.ts'

/** What contexts need from the run. `createToolContext` implements it for tests. */
export interface InvocationHost {
  /** The app. */
  readonly appName: string
  /** The user. */
  readonly userId: string
  /** The session. */
  readonly sessionId: string
  /** The invocation. */
  readonly invocationId: string
  /** The user message that started the invocation. */
  readonly userContent: Content | undefined
  /** The settings of the run. */
  readonly runConfig: RunConfig
  /** The value that the app passed to this run. */
  readonly runContext: RunContext | undefined
  /** Stores artifacts. */
  readonly artifactService: ArtifactService | undefined
  /** Searches memory. */
  readonly memoryService: MemoryService | undefined
  /** Stores credentials. */
  readonly credentialService: CredentialService | undefined
  /** Finds sessions, and stores hashes of definitions that the app trusts. Undefined in a context without a session service. */
  readonly sessionService: HostSessionService | undefined
  /** Clock, HTTP and exchangers for credentials. */
  readonly auth: AuthRuntime
  /** The stored state and the `temp:` values of the run. */
  readonly state: StateReader
  /** Who makes single calls, each in a session of its own: they share results of `cached()`. Undefined in a conversation. */
  readonly callerId?: string | undefined
  /** Takes slots of limits that all processes share. Undefined in a context without a runner. */
  readonly slots?: SlotHolder | undefined
  /** What the user of a live session sends. Undefined in other runs. */
  readonly liveInput?: LiveInputSource | undefined
  /** Returns a snapshot of the session. */
  session(): Session
}

/** The part of a session service that contexts use. */
export type HostSessionService = Pick<SessionService, 'pins'> & FindsSessions

/** What resolving credentials needs besides the user and the store. */
export type AuthRuntime = Pick<AuthServices, 'ports' | 'fetch' | 'exchangers' | 'report'>
