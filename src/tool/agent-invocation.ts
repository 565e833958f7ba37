import type { ArtifactService } from '../artifact/service.ts'
import { deepFreeze } from '../base/deep-freeze.ts'
import type { Content } from '../content/content.ts'
import { ToolwrightError } from '../error/error.ts'
import type { Session } from '../session/service.ts'
import type { Invocation, ReadonlyContext, ReadonlyState, ScopedServices } from './context.ts'
import type { InvocationHost } from './invocation-host.ts'
import type { RunConfig } from './run-config.ts'
import { type RunContext, requireRunContext } from './run-context.ts'
import { readonlyState } from './state.ts'

/** The invocation as one agent of it sees it. Nothing is copied before it is looked at. */
export class AgentInvocation implements Invocation {
  readonly #host: InvocationHost
  readonly agentName: string
  readonly branch: string | undefined
  constructor(host: InvocationHost, agentName: string, branch: string | undefined) {
    this.#host = host
    this.agentName = agentName
    this.branch = branch
  }
  get appName(): string {
    return this.#host.appName
  }
  get userId(): string {
    return this.#host.userId
  }
  get invocationId(): string {
    return this.#host.invocationId
  }
  get session(): Session {
    return this.#host.session()
  }
  get userContent(): Content | undefined {
    return deepFreeze(this.#host.userContent) // it is the log's own
  }
  get runConfig(): RunConfig {
    return this.#host.runConfig
  }
  get services(): ScopedServices {
    return scopedServices(this.#host)
  }
}

/** For toolsets, instruction functions and predicates. */
export function readonlyContext(host: InvocationHost, agentName: string, branch: string | undefined): ReadonlyContext {
  return new RunReadonlyContext(host, new AgentInvocation(host, agentName, branch))
}

class RunReadonlyContext implements ReadonlyContext {
  readonly #host: InvocationHost
  readonly invocation: Invocation
  readonly state: ReadonlyState
  constructor(host: InvocationHost, invocation: Invocation) {
    this.#host = host
    this.invocation = invocation
    this.state = readonlyState(host.state)
  }
  get runContext(): RunContext {
    return requireRunContext(this.#host)
  }
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
