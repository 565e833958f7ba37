import type { ArtifactService } from '../artifact/service.ts'
import { ToolwrightError } from '../error/error.ts'
import type { Session } from '../session/service.ts'
import type { Invocation, ReadonlyContext, ScopedServices } from './context.ts'
import type { InvocationHost } from './host.ts'
import type { RunConfig } from './run-config.ts'
import { readonlyState } from './state.ts'

/** The invocation as one agent of it sees it. Nothing is copied before it is looked at. */
export function invocationOf(host: InvocationHost, agentName: string, branch: string | undefined): Invocation {
  return {
    appName: host.appName,
    userId: host.userId,
    invocationId: host.invocationId,
    agentName,
    branch,
    get session(): Session {
      return host.session()
    },
    get userContent() {
      return host.userContent
    },
    get runConfig(): RunConfig {
      return host.runConfig
    },
    get services(): ScopedServices {
      return scopedServices(host)
    },
  }
}

/** For toolsets, instruction functions and predicates. */
export function readonlyContext(host: InvocationHost, agentName: string, branch: string | undefined): ReadonlyContext {
  return { invocation: invocationOf(host, agentName, branch), state: readonlyState(host.state) }
}

/** The artifact service, or an error that says what is missing. */
export function requireArtifacts(host: InvocationHost): ArtifactService {
  if (host.artifactService) return host.artifactService
  throw new ToolwrightError(
    'INVALID_CONFIG',
    'No artifact service: give the Runner an artifactService (new InMemoryArtifactService() will do) to use artifacts.',
  )
}

/** The session's key, and a filename in it. */
export function artifactKey(
  host: InvocationHost,
  filename: string,
): { appName: string; userId: string; sessionId: string; filename: string } {
  return { appName: host.appName, userId: host.userId, sessionId: host.sessionId, filename }
}

function scopedServices(host: InvocationHost): ScopedServices {
  const { appName, userId, sessionId, artifactService, memoryService } = host
  return {
    ...(artifactService && {
      artifacts: {
        save: (filename, artifact, options) =>
          artifactService.saveArtifact({ ...artifactKey(host, filename), artifact, ...options }),
        load: (filename, version) => artifactService.loadArtifact({ ...artifactKey(host, filename), version }),
        list: () => artifactService.listArtifactKeys({ appName, userId, sessionId }),
      },
    }),
    ...(memoryService && {
      memory: { search: async (query) => (await memoryService.searchMemory({ appName, userId, query })).memories },
    }),
  }
}
