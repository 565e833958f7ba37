import type { ArtifactService } from '../artifact/service.ts'
import type { Content } from '../content/content.ts'
import type { CredentialService } from '../credential/service.ts'
import type { MemoryService } from '../memory/service.ts'
import type { Session, StateReader } from '../session/service.ts'
import type { RunConfig } from './run-config.ts'
import type { RunContext } from './run-context.ts'

/** What contexts stand on: the run, or `createToolContext` in a test. */
export interface InvocationHost {
  readonly appName: string
  readonly userId: string
  readonly sessionId: string
  readonly invocationId: string
  readonly userContent: Content | undefined
  readonly runConfig: RunConfig
  readonly runContext: RunContext | undefined
  readonly artifactService: ArtifactService | undefined
  readonly memoryService: MemoryService | undefined
  readonly credentialService: CredentialService | undefined
  /** Stored state, and the run's `temp:` values. */
  readonly state: StateReader
  /** A snapshot for reading. */
  session(): Session
}
