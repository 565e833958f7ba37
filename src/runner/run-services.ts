import type { KeptToolsets } from '../agent/request/kept-toolsets.ts'
import type { MediaOptions } from '../agent/request/media-options.ts'
import type { ArtifactService } from '../artifact/service.ts'
import type { Deadlines } from '../base/deadlines.ts'
import type { Ports } from '../base/ports.ts'
import type { CredentialService } from '../credential/service.ts'
import type { Logger } from '../dispatch/host.ts'
import type { MemoryService } from '../memory/service.ts'
import type { SessionService } from '../session/service.ts'
import type { Plugin } from './plugins/plugin.ts'

/** What a runner gives every run. */
export interface RunServices {
  readonly sessionService: SessionService
  readonly artifactService: ArtifactService | undefined
  readonly memoryService: MemoryService | undefined
  readonly credentialService: CredentialService | undefined
  readonly plugins: readonly Plugin[]
  /** Those of them that want to see events. */
  readonly watchers: readonly Plugin[]
  readonly logger: Logger
  readonly ports: Ports
  readonly deadlines: Deadlines
  readonly toolTimeoutMs: number
  readonly maxResultBytes: number
  readonly maxArgsBytes: number
  readonly maxCallsPerReply: number
  readonly media: MediaOptions
  /** Toolsets that dynamic sources have returned. */
  readonly keptToolsets: KeptToolsets
}
