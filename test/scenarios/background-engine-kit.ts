// An engine inside the test: workers over one store, which it calls one at a time for each session and each call.
import { LlmAgent, type LlmAgentOptions, type Logger, Runner, type RunnerOptions, type SessionKey } from 'toolwright'
import type { Entry } from 'toolwright/store'
import { type ScriptedModel, type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { onTestFinished } from 'vitest'

type SessionEngine = NonNullable<RunnerOptions['engine']>
type SessionCall = Parameters<NonNullable<SessionEngine['runBackground']>>[0]

export const where = { userId: 'ada', sessionId: 's1' }
export const key: SessionKey = { appName: 'shop', ...where }

/** Calls workers, in turn. A call that a test holds back is asked for and runs nowhere. */
export class TestEngine implements SessionEngine {
  /** The workers that it calls. */
  readonly workers: Runner[] = []
  /** The calls that it was asked about. */
  readonly told: string[] = []
  /** Set: the engine cannot be reached. */
  isAway = false
  readonly #stop = new AbortController()
  readonly #busy: Set<Promise<unknown>> = new Set()
  readonly #last: Map<string, Promise<unknown>> = new Map()

  async wake(session: SessionKey): Promise<void> {
    if (this.isAway) throw new Error('The engine is away.')
    this.#queue(`session ${session.sessionId}`, async () => {
      const options = { takeOver: 'test', maxCrashes: 5, runContext: undefined, signal: this.#stop.signal }
      const [worker] = this.workers
      for (let times = 0; worker && times < 20; times++) {
        const left = await worker.internals.wakeSession(session, options)
        if (left.type !== 'busy') return
        await new Promise((resolve) => setTimeout(resolve, 25))
      }
    })
  }

  async runBackground({ session, callId }: SessionCall): Promise<void> {
    if (this.isAway) throw new Error('The engine is away.')
    this.told.push(callId)
    this.#queue(`call ${callId}`, async () => {
      const worker = this.workers.at(-1)
      if (worker) await this.run(worker, session, callId)
    })
  }

  /** Has a worker run the body of a call now, beside any other one that does. */
  async run(
    worker: Runner,
    session: Pick<SessionKey, 'userId' | 'sessionId'>,
    callId: string,
    options: Partial<Parameters<Runner['internals']['runBackgroundCall']>[2]> = {},
  ): Promise<string> {
    const { signal } = this.#stop
    const defaults = { signal, maxCrashes: 5, isHandedOver: false, runContext: undefined }
    return (await worker.internals.runBackgroundCall(session, callId, { ...defaults, ...options })).type
  }

  /** Resolves when no worker is at work. */
  async idle(): Promise<void> {
    while (this.#busy.size > 0) await Promise.all(this.#busy)
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.idle()
  }

  #queue(name: string, work: () => Promise<unknown>): void {
    const before = this.#last.get(name) ?? Promise.resolve()
    const next: Promise<unknown> = before.then(work).catch(() => undefined)
    this.#last.set(name, next)
    this.#busy.add(next)
    void next.then(() => this.#busy.delete(next))
  }
}

/** Runners over one store that all know one engine. */
export interface World {
  readonly engine: TestEngine
  readonly model: ScriptedModel
  readonly warnings: string[]
  /** A runner with tools of its own, as a process has them. */
  open(agent: Partial<LlmAgentOptions>, options?: Partial<RunnerOptions>): Runner
}

/** Opens a world over a store. */
export function openWorld(
  services: Partial<RunnerOptions> & Required<Pick<RunnerOptions, 'sessionService'>>,
  steps: readonly ScriptedStep[],
): World {
  const engine = new TestEngine()
  const model = scriptedModel(steps)
  const warnings: string[] = []
  const logger: Logger = { warn: (text) => void warnings.push(text), error: (text) => void warnings.push(text) }
  onTestFinished(() => engine.close())
  const open: World['open'] = (agent, options = {}) => {
    const desk = new LlmAgent({ name: 'desk', model, ...agent })
    const runner = new Runner({ appName: 'shop', agent: desk, engine, logger, ...services, ...options })
    onTestFinished(() => runner.close())
    return runner
  }
  return { engine, model, warnings, open }
}

/** The log of the session. */
export async function entriesOf({ sessionService }: Runner): Promise<readonly Entry[]> {
  return (await sessionService.readLog?.(key))?.entries ?? []
}

/** The final responses of the log to calls in the background, in order. */
export async function resultsOf(runner: Runner): Promise<unknown[]> {
  const parts = (await entriesOf(runner)).flatMap(({ event }) => event?.content?.parts ?? [])
  return parts.flatMap(({ functionResponse: one }) => (one && !one.willContinue ? [one.response] : []))
}

/** The pending background call. */
export async function pendingCall(runner: Runner): Promise<{ readonly id: string; readonly expiresAt: number }> {
  const [request] = await runner.pending(where)
  if (!request) throw new Error('No call is pending.')
  return { id: request.id, expiresAt: request.expiresAt ?? 0 }
}
