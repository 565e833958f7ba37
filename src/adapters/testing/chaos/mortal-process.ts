import { systemPorts } from '../../../core/base/ports.ts'
import type { Entry, NewEntry } from '../../../core/event/event.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import type { RunContext } from '../../../engine/context/run-context.ts'
import { approve } from '../../../engine/runner/approvals/answer-parts.ts'
import { Runner } from '../../../engine/runner/runner.ts'
import { overrideTool } from '../../../engine/tool/override-tool.ts'
import type { Middleware, Tool } from '../../../engine/tool/tool.ts'
import type { SessionService } from '../../../services/session/service.ts'
import { scriptedModel } from '../scripted-model.ts'
import { cannotJudge, isCancellable } from './chaos-options.ts'
import type { ChaosPoint, Fault } from './plan.ts'
import { type Scene, SESSION } from './scene.ts'

/** What a dead process waits for. */
const NEVER: Promise<never> = new Promise(() => {})

/** Points at which the process dies in the body of one call: a body of another call does not begin. */
const IN_CALL: readonly ChaosPoint[] = ['before-body', 'in-body', 'after-body']

/** A process with a runner, which dies at a point. What it was doing is abandoned: its store and its timers no longer answer. */
export class MortalProcess {
  readonly #scene: Scene
  readonly #fault: Fault | undefined
  readonly #runner: Runner
  readonly #death: PromiseWithResolvers<void> = Promise.withResolvers()
  readonly #timers: Set<() => void> = new Set()
  #isDead = false
  /** The key of the first call whose body was to run. */
  #first: string | undefined

  constructor(scene: Scene, fault: Fault | undefined) {
    this.#scene = scene
    this.#fault = fault
    const { artifactService, credentialService, memoryService } = scene.options
    this.#runner = new Runner({
      appName: SESSION.appName,
      agent: new LlmAgent({ name: 'agent', model: modelOf(scene), tools: [this.#watched(scene.tool)] }),
      sessionService: this.#mortal(scene.store),
      artifactService,
      credentialService,
      memoryService,
      logger: { warn: () => {}, error: () => {} },
      ports: {
        now: () => scene.now,
        newId: () => scene.newId(),
        setTimer: (callback, ms, options) => this.#setTimer(callback, ms, options),
        random: () => 0.5,
      },
    })
  }

  /** Sends the messages of the user. Resolves when the run has ended, or the process is dead. */
  start(): Promise<void> {
    return this.#untilDeath(async () => {
      const { calls, messages } = this.#scene.plan
      const { state } = this.#scene.options
      for (let message = 0; message < messages; message++) {
        this.#scene.facts.push({ type: 'call', calls })
        const { userId, sessionId } = SESSION
        await this.#runner.complete({
          userId,
          sessionId,
          message: 'Go.',
          stateDelta: state,
          runContext: this.#runContext,
        })
        await this.#goOn()
      }
    })
  }

  /** Continues what a dead process has left. */
  recover(): Promise<void> {
    const { store, facts, options } = this.#scene
    return this.#untilDeath(async () => {
      if ((await store.interrupted({ appName: SESSION.appName })).length > 0) facts.push({ type: 'recover' })
      const runContext = options.runContext
      const runs = await this.#runner.recover(runContext && { runContext: () => runContext })
      for (const run of runs) for await (const _ of run);
      await this.#goOn()
    })
  }

  /** An app that declares the type of its run context passes one. */
  get #runContext(): RunContext {
    return this.#scene.options.runContext as RunContext
  }

  async #untilDeath(work: () => Promise<void>): Promise<void> {
    const working = work()
    working.catch(() => {}) // of a dead process, nothing is seen
    await Promise.race([working, this.#death.promise])
  }

  /** Approves the pending requests of the user, then cancels if the plan has a cancel. */
  async #goOn(): Promise<void> {
    for (;;) {
      const pending = await this.#runner.pending(SESSION)
      const asked = pending.filter(({ kind }) => kind !== 'longRunning')
      if (asked.length === 0) return await this.#cancelWork(pending)
      const other = asked.find(({ kind }) => kind !== 'confirmation')
      if (other) throw cannotJudge(this.#scene.tool, `it asks for ${other.kind}, and chaos() only approves.`)
      const message = asked.map((request) => approve(request))
      await this.#runner.complete({ ...SESSION_OF_USER, message, runContext: this.#runContext })
    }
  }

  async #cancelWork(pending: readonly PendingRequest[]): Promise<void> {
    const isWanted = this.#fault?.type === 'cancel' || this.#diesAt('after-cancel')
    if (isWanted && pending.length > 0 && isCancellable(this.#scene.tool)) await this.#cancel()
  }

  async #cancel(): Promise<void> {
    const fact: { type: 'cancel'; after?: unknown } = { type: 'cancel' }
    this.#scene.facts.push(fact)
    const { runContext } = this.#scene.options
    await this.#runner.cancel({ ...SESSION_OF_USER, runContext })
    fact.after = await this.#scene.look()
  }

  /** The tool, with eyes on its body, `reconcile` and `cancel`. */
  #watched(tool: Tool): Tool {
    const { reconcile, cancel, middleware = [] } = tool
    return overrideTool(tool, {
      middleware: [...middleware, this.#aroundBody], // next to the body, so that each attempt of a policy is seen
      ...(reconcile && {
        reconcile: async (attempt) => {
          const work = async () => await reconcile.call(tool, attempt)
          const found = await this.#scene.watch('reconcile', attempt.idempotencyKey, work)
          await this.#pass('after-reconcile')
          return found
        },
      }),
      ...(cancel && {
        cancel: async (work) => {
          await this.#scene.watch('stop', work.idempotencyKey, async () => await cancel.call(tool, work))
          await this.#pass('after-cancel')
        },
      }),
    })
  }

  readonly #aroundBody: Middleware = async (call, next) => {
    const key = call.context.idempotencyKey
    this.#first ??= key
    if (key !== this.#first && IN_CALL.some((point) => this.#diesAt(point))) return await NEVER
    await this.#pass('before-body')
    const started = Promise.withResolvers<void>()
    const body = this.#scene.watch('body', key, () => {
      started.resolve()
      return next(call)
    })
    this.#scene.keep(body)
    body.catch(() => {}) // awaited below, unless the process dies
    await started.promise
    await this.#pass('in-body')
    if (this.#fault?.type === 'cancel' && !this.#scene.tool.isLongRunning && key === this.#first) void this.#cancel()
    try {
      return await body
    } finally {
      await this.#pass('after-body')
    }
  }

  #diesAt(point: ChaosPoint): boolean {
    return this.#fault?.type === 'kill' && this.#fault.at === point
  }

  /** Passes a point. A process that dies there never gets further. */
  async #pass(point: ChaosPoint): Promise<void> {
    if (!this.#isDead && this.#diesAt(point)) this.#die(point)
    if (this.#isDead) await NEVER
  }

  #die(at: ChaosPoint): void {
    this.#scene.facts.push({ type: 'kill', at })
    this.#isDead = true
    for (const clear of this.#timers) clear()
    this.#death.resolve()
  }

  #setTimer(callback: () => void, ms: number, options: { background?: boolean } | undefined): () => void {
    if (this.#isDead) return () => {}
    const cancel = (): void => {
      clear()
      this.#timers.delete(cancel)
    }
    const happen = (): void => {
      this.#timers.delete(cancel)
      callback()
    }
    const clear = systemPorts.setTimer(happen, ms, options)
    this.#timers.add(cancel)
    return cancel
  }

  /** The store as this process sees it. To a dead process it does not answer. */
  #mortal(store: SessionService): SessionService {
    const answer = async (given: Promise<unknown>, entries: unknown): Promise<unknown> => {
      const value = await given
      if (Array.isArray(entries)) await this.#passAppend(entries)
      return this.#isDead ? await NEVER : value
    }
    return new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target)
        if (typeof member !== 'function') return member
        return (...args: unknown[]) => {
          if (this.#isDead) return NEVER
          const given: unknown = Reflect.apply(member, target, args)
          return given instanceof Promise ? answer(given, name === 'append' ? args[2] : undefined) : given
        }
      },
    })
  }

  async #passAppend(entries: readonly (NewEntry | Entry)[]): Promise<void> {
    const contents = entries.flatMap(({ event }) => event?.content ?? [])
    const isCall = contents.some(({ role, parts }) => role === 'model' && parts.some((part) => part.functionCall))
    if (isCall) await this.#pass('after-call')
    if (contents.some(({ role }) => role === 'tool')) await this.#pass('after-result')
  }
}

const SESSION_OF_USER = { userId: SESSION.userId, sessionId: SESSION.sessionId }

/** A model that calls the tool once for each message. */
function modelOf({ tool, options, plan }: Scene) {
  const calls = Array.from({ length: plan.calls }, () => ({ name: tool.name, args: options.args ?? {} }))
  return scriptedModel(({ contents }) => {
    const isAnswered = contents.at(-1)?.parts.some((part) => part.functionResponse) === true
    return isAnswered ? 'Done.' : { calls }
  })
}
