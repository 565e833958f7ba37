import { ToolwrightError } from '../../core/error/error.ts'
import { DefinedPhases } from '../../engine/flow/phases/conversation-phases.ts'
import { validatePhases } from '../../engine/flow/phases/validate-phases.ts'
import { Runner } from '../../engine/runner/runner.ts'
import type { CloseOptions } from '../../engine/runner/runner-options.ts'
import { InMemoryArtifactService } from '../../services/artifact/in-memory.ts'
import { InMemoryMemoryService } from '../../services/memory/in-memory.ts'
import { SignedSessions } from './bench/signed-sessions.ts'
import { ToolBench } from './bench/tool-bench.ts'
import { ClientWrites } from './guard/client-writes.ts'
import { DEFAULT_LIMITS, type LiveAppOptions, type ServerOptions } from './server-options.ts'
import { CallNotes } from './trace/call-notes.ts'
import { ModelCalls } from './trace/model-calls.ts'
import { RecentSessions } from './trace/recent-sessions.ts'
import { RecentStacks } from './trace/recent-stacks.ts'
import { WhatIfs } from './what-if/what-ifs.ts'

/** One app that the server serves. */
export interface ServedApp {
  /** The name in paths and bodies. */
  readonly name: string
  /** Runs the agent of the app. */
  readonly runner: Runner
  /** The live model; undefined if the app has no live sessions. */
  readonly live: LiveAppOptions | undefined
  /** Calls single tools of the app; undefined unless the server serves `/dev`. */
  readonly bench: ToolBench | undefined
  /** Recognises the sessions of the tool bench, also those of another process. */
  readonly benchSessions: SignedSessions
  /** The copies of sessions whose agents are varied. Only a server that serves `/dev` makes and runs them. */
  readonly whatIfs: WhatIfs
  /** The stacks of errors that tools threw; undefined unless the server serves `/dev`. */
  readonly stacks: RecentStacks | undefined
  /** What models were asked; undefined unless the server records it. */
  readonly modelCalls: ModelCalls | undefined
  /** What happened in tool calls; undefined unless the server serves `/dev`. */
  readonly callNotes: CallNotes | undefined
  /** Limits what clients store. */
  readonly writes: ClientWrites
  /** The sessions that clients have used lately. */
  readonly recent: RecentSessions
  /** Example messages. */
  readonly tour: readonly string[]
  /** The file that exports the app; undefined if the server does not know it. */
  readonly file: string | undefined
}

/** The apps of a server, by name. */
export class Apps {
  readonly #apps: ReadonlyMap<string, ServedApp>

  /** Makes a runner for each agent. Throws `INVALID_CONFIG` for an app that cannot be served. */
  constructor({ apps, services, live, tours, agentFiles, dev, recordModelCalls = dev, limits }: ServerOptions) {
    this.#apps = new Map(
      Object.entries(apps).map(([name, root]) => {
        const runner =
          root instanceof Runner
            ? checkName(name, root)
            : new Runner({ ...inMemory(), ...services, appName: name, agent: root })
        const own = <T>(options: { readonly [app: string]: T } | undefined): T | undefined =>
          options && Object.hasOwn(options, name) ? options[name] : undefined
        usePhases(runner, own(live))
        const benchSessions = new SignedSessions('bench', runner)
        const stacks = dev ? new RecentStacks() : undefined
        const modelCalls = recordModelCalls ? new ModelCalls() : undefined
        const callNotes = dev ? new CallNotes() : undefined
        const prepare = (one: Runner): void => {
          if (stacks) one.internals.observeThrown((thrown) => stacks.add(thrown))
          for (const observer of [modelCalls, callNotes]) if (observer) one.internals.observe(observer)
        }
        prepare(runner)
        const bench = stacks && new ToolBench(runner, benchSessions, prepare)
        const whatIfs = new WhatIfs(runner, bench && { bench, prepare })
        const writes = new ClientWrites({ ...DEFAULT_LIMITS, ...limits })
        const recent = new RecentSessions()
        const tour = own(tours) ?? []
        const file = own(agentFiles)
        const sessions = { bench, benchSessions, whatIfs }
        const recorded = { stacks, modelCalls, callNotes }
        return [name, { name, runner, live: own(live), ...sessions, ...recorded, writes, recent, tour, file }]
      }),
    )
  }

  /** The app of this name. Throws `NOT_FOUND`. */
  get(name: string): ServedApp {
    const app = this.#apps.get(name)
    if (app) return app
    throw new ToolwrightError('NOT_FOUND', `There is no app "${name}". GET /list-apps lists the apps.`)
  }

  /** All apps. */
  all(): ServedApp[] {
    return [...this.#apps.values()]
  }

  /** Closes the runners of all apps, as `runner.close()` does, with their tool benches and what-if copies. */
  async close(options?: CloseOptions): Promise<void> {
    const close = async ({ runner, bench, whatIfs }: ServedApp): Promise<void> => {
      try {
        await runner.close(options)
      } finally {
        // their tools are those of the runner, which may still need their connections before
        await Promise.all([bench?.close(), whatIfs.close(options)])
      }
    }
    await Promise.all(this.all().map(close))
  }
}

/** A client chooses between /run and /run_live, so that the phases of the live sessions hold for both. */
function usePhases(runner: Runner, live: LiveAppOptions | undefined): void {
  const { phases, initialPhase, computed } = live ?? {}
  validatePhases(phases, initialPhase)
  if (phases && initialPhase !== undefined)
    runner.internals.usePhases(new DefinedPhases({ phases, initialPhase, computed }))
}

function checkName(name: string, runner: Runner): Runner {
  if (runner.appName === name) return runner
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `createServer(): the runner of app "${name}" has appName "${runner.appName}". Use the same name for both.`,
  )
}

function inMemory(): Pick<ServerOptions['services'] & object, 'artifactService' | 'memoryService'> {
  return { artifactService: new InMemoryArtifactService(), memoryService: new InMemoryMemoryService() }
}
