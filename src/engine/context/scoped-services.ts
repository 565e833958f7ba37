import { ToolwrightError } from '../../core/error/error.ts'
import type { ArtifactService } from '../../services/artifact/service.ts'
import type { Invocation } from './context.ts'
import type { InvocationHost } from './invocation-host.ts'
import { artifactKey, saveArtifact } from './session-artifacts.ts'

/** Binds the services of the run to its app, user and session. */
export function scopeServices(host: InvocationHost): Invocation['services'] {
  const { appName, userId, sessionId, artifactService, memoryService } = host
  return {
    ...(artifactService && {
      artifacts: {
        save: (filename, artifact, options) => saveArtifact(host, artifactService, filename, { artifact, ...options }),
        load: (filename, version) => artifactService.loadArtifact({ ...artifactKey(host, filename), version }),
        list: () => artifactService.listArtifactKeys({ appName, userId, sessionId }),
      },
    }),
    ...(memoryService && {
      memory: { search: async (query) => (await memoryService.searchMemory({ appName, userId, query })).memories },
    }),
  }
}

/** Returns the artifact service. Throws INVALID_CONFIG if the runner has none. */
export function requireArtifacts(host: InvocationHost): ArtifactService {
  if (host.artifactService) return host.artifactService
  throw new ToolwrightError(
    'INVALID_CONFIG',
    'Artifacts cannot be used: the Runner has no artifactService. Pass one, such as new InMemoryArtifactService().',
  )
}
