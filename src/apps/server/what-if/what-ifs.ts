// What-if copies of sessions: their messages run with variants of the agents. The variants are in the state of the copy, so that a run that
// waits continues with them, also in another process.
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type { Logger } from '../../../engine/dispatch/host.ts'
import { Runner } from '../../../engine/runner/runner.ts'
import type { CloseOptions } from '../../../engine/runner/runner-options.ts'
import { itemKeyOf, type WorkItem } from '../../../engine/runner/work/work-item.ts'
import { MAX_CRASHES } from '../../../engine/runner/work/worker.ts'
import { sharedServices } from '../bench/shared-services.ts'
import { SignedSessions, type UserSession } from '../bench/signed-sessions.ts'
import type { ToolBench } from '../bench/tool-bench.ts'
import type { RecoverySweepOptions } from '../server-options.ts'
import { invalid } from '../wire/fields.ts'
import { type AgentVariant, readVariants } from './agent-variant.ts'
import { checkTools, varyAgents } from './vary-agents.ts'

/** The key of the state with the variants. Clients cannot write keys with this prefix. */
export const WHAT_IF = 'trusted:whatIf'

/** The most runners that are kept. A copy whose runner was forgotten gets another one. */
const MAX_RUNNERS = 50

/** What a server with `dev` gives the copies. */
export interface WhatIfParts {
  /** Lists the tools of the agents. */
  readonly bench: ToolBench
  /** Prepares a new runner, such as for the stacks of tools that throw. */
  prepare(runner: Runner): void
}

/** How a worker does its work. */
export interface WhatIfWork extends Pick<RecoverySweepOptions, 'runContext'> {
  /** Leaves runs interrupted. */
  readonly signal: AbortSignal
  /** Receives warnings. */
  readonly logger: Logger
}

/** The what-if copies of an app. */
export class WhatIfs {
  readonly #runner: Runner
  readonly #parts: WhatIfParts | undefined
  readonly #sessions: SignedSessions
  /** By the JSON of the variants. */
  readonly #runners: Map<string, Runner> = new Map()
  /** The work that this process does or has failed to do: it is not tried again. */
  readonly #tried: Set<string> = new Set()

  /** Without parts, copies are known but not run. */
  constructor(runner: Runner, parts: WhatIfParts | undefined) {
    this.#runner = runner
    this.#parts = parts
    this.#sessions = new SignedSessions('what-if', runner)
  }

  /** Checks the variants that a client sends. Throws INVALID_REQUEST if an agent, a model or a tool is not there. */
  async check(sent: readonly unknown[], userId: string): Promise<readonly AgentVariant[]> {
    const variants = readVariants(sent, 'whatIf')
    this.#runnerFor(variants)
    for (const { agent, tools } of variants) {
      const known = tools && (await this.#parts?.bench.tools(agent, userId))
      if (tools && known)
        checkTools(
          agent,
          tools,
          known.map(({ name }) => name),
        )
    }
    return variants
  }

  /** The id of a new copy. */
  newSessionId(userId: string): Promise<string> {
    return this.#sessions.newSessionId(this.#runner.agent.name, userId)
  }

  /** Is the session a what-if copy? */
  async has(session: UserSession): Promise<boolean> {
    return (await this.#sessions.agentOf(session)) !== undefined
  }

  /** Which sessions are what-if copies, without further reading. */
  async finder(): Promise<(session: UserSession) => boolean> {
    const find = await this.#sessions.finder()
    return (session) => find(session) !== undefined
  }

  /** The runner of a copy; undefined for other sessions. Throws INVALID_REQUEST if the agents no longer have what the copy changes. */
  async runnerOf(session: UserSession): Promise<Runner | undefined> {
    if (!(await this.has(session))) return undefined
    if (!this.#parts) throw invalid(`Session "${session.sessionId}" is a what-if copy. Only a server with dev runs it.`)
    try {
      return this.#runnerFor(readVariants(await this.#readStored(session), WHAT_IF))
    } catch (error) {
      if (!(error instanceof ToolwrightError) || error.code !== 'INVALID_REQUEST') throw error
      const problem = `What session "${session.sessionId}" changes does not fit the app: ${error.message}`
      throw new ToolwrightError('INVALID_REQUEST', `${problem} Copy the session again.`, { cause: error })
    }
  }

  /** The runner that may have a run of the copy under way in this process. Never throws for what the copy has stored. */
  async startedRunnerOf(session: UserSession): Promise<Runner | undefined> {
    if (this.#runners.size === 0 || !(await this.has(session))) return undefined
    return this.#runners.get(JSON.stringify(await this.#readStored(session)))
  }

  /** Does what a worker has found in a copy, as the worker would: a copy that kills its processes is set aside. */
  async work(item: WorkItem, { signal, runContext, logger }: WhatIfWork): Promise<void> {
    const { userId, sessionId } = item
    const key = itemKeyOf(item)
    if (!this.#parts || this.#tried.has(key)) return
    this.#tried.add(key)
    try {
      const runner = await this.runnerOf(item)
      const scheduleId = item.type === 'tick' ? item.schedule.id : undefined
      await runner?.internals.wakeSession(
        { userId, sessionId },
        { signal, runContext, scheduleId, maxCrashes: MAX_CRASHES },
      )
      this.#tried.delete(key)
    } catch (error) {
      logger.warn(`What-if copy "${sessionId}" was not continued: ${messageOf(error)}`, error)
    }
  }

  /** Closes the runners. */
  async close(options?: CloseOptions): Promise<void> {
    await Promise.all([...this.#runners.values()].map((runner) => runner.close(options)))
  }

  async #readStored({ userId, sessionId }: UserSession): Promise<unknown> {
    const { appName, sessionService } = this.#runner
    const session = await sessionService.getSession({ appName, userId, sessionId, config: { numRecentEvents: 0 } })
    return session?.state[WHAT_IF]
  }

  #runnerFor(variants: readonly AgentVariant[]): Runner {
    const key = JSON.stringify(variants)
    const known = this.#runners.get(key)
    if (known) return known
    const made = this.#makeRunner(variants)
    const [oldest] = this.#runners.keys()
    if (oldest !== undefined && this.#runners.size >= MAX_RUNNERS) this.#runners.delete(oldest) // its runs end by themselves
    this.#runners.set(key, made)
    return made
  }

  #makeRunner(variants: readonly AgentVariant[]): Runner {
    const { engine: _, ...options } = this.#runner.options // its workers have the agents of the file
    const agent = varyAgents(options.agent, variants, options.model)
    try {
      const { phases } = this.#runner.internals
      const runner = new Runner({ ...options, ...sharedServices(this.#runner), agent, phases })
      this.#parts?.prepare(runner)
      return runner
    } catch (error) {
      // an unknown model is a mistake of the client here
      throw error instanceof ToolwrightError
        ? new ToolwrightError('INVALID_REQUEST', error.message, { cause: error })
        : error
    }
  }
}
