// Calls tools by name, without a model: the pipeline of the agents over a log in memory.

import type { JsonObject } from '../../../core/base/json.ts'
import { systemPorts } from '../../../core/base/ports.ts'
import { showAs } from '../../../core/base/show-as.ts'
import {
  anything,
  callback,
  checkOptions,
  flag,
  type OptionRules,
  objectWith,
  record,
} from '../../../core/error/check-options.ts'
import { ToolError, ToolwrightError } from '../../../core/error/error.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import { agentToolSettings } from '../../agent/agents/agent-tool.ts'
import type { ReadonlyContext } from '../../context/context.ts'
import type { RunContext } from '../../context/run-context.ts'
import { isModel, type Model } from '../../model/model.ts'
import type { Observer } from '../../observe/observer.ts'
import { OBSERVERS } from '../../observe/observer-rules.ts'
import { toolOfFunction } from '../../tool/define-tool.ts'
import type { ToolFunction } from '../../tool/functions/tool-function.ts'
import { overrideTool } from '../../tool/override-tool.ts'
import { isTool, type Tool } from '../../tool/tool.ts'
import { AGENT } from '../../tool/tool-marks.ts'
import { isToolset, type Toolset } from '../../tool/toolset.ts'
import { type ConfirmationProvider, confirmationAnswer, confirmedBy } from '../approvals/confirmation-provider.ts'
import { toolErrorOf } from './call-error.ts'
import type { CallOutcome } from './call-outcome.ts'
import { type CallOptions, CallRunner } from './call-runner.ts'

/** Options of `new ToolDispatcher()`. */
export interface ToolDispatcherOptions {
  /** Deadline of tools without their own `timeoutMs`, agent tools included, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number | undefined
  /** Asks a person about calls that need a confirmation. Default: such calls are refused. */
  readonly confirmationProvider?: ConfirmationProvider | undefined
  /** Runs calls that need a confirmation without one if there is no `confirmationProvider`. Default false. */
  readonly allowUnconfirmed?: boolean | undefined
  /** The model of agent tools whose agents have none. */
  readonly model?: Model | undefined
  /** Measure what calls do, as in `new Runner({ observers })`. Default: none. */
  readonly observers?: readonly Observer[] | undefined
}

/** Options of one call. */
export interface ToolDispatcherCall {
  /** Deadline of this call in milliseconds, shorter or longer than that of the tool. The time a person takes does not count. */
  readonly timeoutMs?: number | undefined
  /** Cancels the call. */
  readonly signal?: AbortSignal | undefined
  /** State that the tool reads. What it writes is put into the same object. Default: empty state. */
  readonly state?: { [key: string]: unknown } | undefined
  /** The user the tool acts for. Default `user`. */
  readonly userId?: string | undefined
  /** Passed to the tool, as `runner.run({ runContext })` does. */
  readonly runContext?: RunContext | undefined
  /** Receives progress of the call. */
  readonly onProgress?: ((value: unknown) => void) | undefined
}

const duration = {
  expects: 'a number of milliseconds > 0',
  accepts: (value: unknown): boolean => typeof value === 'number' && value > 0,
}
const RULES: OptionRules<ToolDispatcherOptions> = {
  timeoutMs: duration,
  confirmationProvider: callback,
  allowUnconfirmed: flag,
  model: { expects: 'a model, such as gemini(name)', accepts: isModel },
  observers: OBSERVERS,
}
const CALL_RULES: OptionRules<ToolDispatcherCall> = {
  timeoutMs: duration,
  signal: { expects: 'an AbortSignal', accepts: objectWith('addEventListener').accepts },
  state: record,
  userId: { expects: 'a string that is not empty', accepts: (value) => typeof value === 'string' && value !== '' },
  runContext: anything,
  onProgress: callback,
}

/** Agents inside a tool inherit this model if they have none. */
const noModel: Model = {
  name: 'none',
  // biome-ignore lint/correctness/useYield: it always throws
  async *generate() {
    throw new Error('An agent inside the tool has no model. Set its `model`, or pass `model` to new ToolDispatcher().')
  },
}

/** Runners that are kept for calls with a deadline of their own. */
const MAX_RUNNERS = 8

/**
 * Registers tools and calls them by name: validation, gates, policies and deadlines apply as for an agent. It is a toolset too, so
 * that an agent or a live session can use the same tools.
 *
 * @example
 * const dispatcher = new ToolDispatcher().register(getWeather)
 * const result = await dispatcher.call('get_weather', { city: 'Oslo' }, { timeoutMs: 5_000 })
 */
export class ToolDispatcher implements Toolset {
  /** The name in warnings and errors. */
  readonly name = 'dispatcher'
  readonly #options: ToolDispatcherOptions
  readonly #tools: Map<string, Tool> = new Map()
  readonly #toolsets: Toolset[] = []
  /** The tools as agents and live sessions get them: with the options of the dispatcher. */
  readonly #shared: WeakMap<Tool, Tool> = new WeakMap()
  /** The calls of this dispatcher share results of `cached()`, each in a session of its own. */
  readonly #id: string = systemPorts.newId()
  /** By deadline. Made again after a registration. */
  #runners: Map<number | undefined, CallRunner> = new Map()
  #isShutDown = false

  static {
    showAs(ToolDispatcher.prototype, 'ToolDispatcher', ({ name, tools }) => ({
      name,
      tools: tools.map((one) => one.name),
    }))
  }

  constructor(options: ToolDispatcherOptions = {}) {
    checkOptions('ToolDispatcher', options, RULES)
    this.#options = options
  }

  /** Adds tools and toolsets. Throws INVALID_CONFIG if a name is taken: no tool replaces another silently. */
  register(...tools: readonly (Tool | Toolset | ToolFunction)[]): this {
    for (const given of tools) {
      const one = typeof given === 'function' ? toolOfFunction(given, 'The tools of a ToolDispatcher') : given
      if (isToolset(one)) this.#toolsets.push(one)
      else if (!isTool(one)) throw invalid('register() takes tools and toolsets. Create a tool with tool()')
      else if (this.#tools.has(one.name)) throw invalid(`Tool "${one.name}" is registered twice. Rename one of them`)
      else this.#tools.set(one.name, one)
    }
    this.#runners = new Map()
    this.#makeRunner(undefined) // a wrong tool fails here, not at its first call
    return this
  }

  /** The registered tools, in order. Those of toolsets are listed by `listTools()`. */
  get tools(): readonly Tool[] {
    return [...this.#tools.values()]
  }

  /**
   * Lists all tools, in the order of their registration, then those of toolsets. They bring the options of the dispatcher along:
   * deadline, confirmation and model.
   */
  async listTools(context: ReadonlyContext): Promise<readonly Tool[]> {
    const listed = await Promise.all(this.#toolsets.map((toolset) => toolset.listTools(context)))
    return [...this.#tools.values(), ...listed.flat()].map((one) => this.#withOptions(one))
  }

  /** Made once per tool, so that a listing equals the one before. */
  #withOptions(given: Tool): Tool {
    const known = this.#shared.get(given)
    if (known) return known
    const { timeoutMs, confirmationProvider, allowUnconfirmed = false, model } = this.#options
    const agent = model && agentToolSettings(given)
    const overrides = {
      ...(timeoutMs !== undefined && given.timeoutMs === undefined && { timeoutMs }),
      ...((confirmationProvider || allowUnconfirmed) && confirmedBy({ confirmationProvider, allowUnconfirmed })),
      ...(agent && { [AGENT]: { ...agent, model: agent.model ?? model } }),
    }
    const made = Reflect.ownKeys(overrides).length ? overrideTool(given, overrides) : given
    this.#shared.set(given, made)
    return made
  }

  /** Calls a tool. Resolves with the result as a model would get it: an object. Throws a `ToolError` with a code. */
  async call(name: string, args: unknown = {}, options: ToolDispatcherCall = {}): Promise<JsonObject> {
    checkOptions(`call() of tool "${name}"`, options, CALL_RULES, 'INVALID_REQUEST')
    if (this.#isShutDown)
      throw new ToolwrightError('INVALID_REQUEST', 'The ToolDispatcher is shut down. Create a new ToolDispatcher.')
    const { timeoutMs, signal, state, userId = 'user', runContext, onProgress } = options
    if (signal?.aborted) throw new ToolError('Tool cancelled', { code: 'CANCELLED' })
    const runner = this.#runnerFor(timeoutMs)
    const who: CallOptions = { userId, runContext, signal, ...(onProgress && { onProgress }) }
    const { appName, sessionService } = runner.runner
    let outcome: CallOutcome | undefined
    try {
      // arguments that are not an object are refused by the dispatcher
      const call = { name, args: args as JsonObject }
      outcome = await runner.run(call, { ...who, ...(state && { stateDelta: state as JsonObject }) })
      while (outcome.type === 'pending' && !outcome.handle) outcome = await this.#confirm(runner, outcome, who)
      const { sessionId } = outcome
      if (state) copyState((await sessionService.getSession({ appName, userId, sessionId }))?.state ?? {}, state)
      return resultOf(outcome, name, timeoutMs ?? this.#deadlineOf(name))
    } finally {
      const { sessionId } = outcome ?? {}
      if (sessionId !== undefined) await sessionService.deleteSession({ appName, userId, sessionId })
    }
  }

  #deadlineOf(name: string): number {
    return this.#tools.get(name)?.timeoutMs ?? this.#options.timeoutMs ?? 30_000
  }

  /** Asks for each confirmation, then continues the call. Other requests cannot be answered here. */
  async #confirm(
    runner: CallRunner,
    { requests, sessionId }: CallOutcome & { type: 'pending' },
    who: CallOptions,
  ): Promise<CallOutcome> {
    const { confirmationProvider, allowUnconfirmed = false } = this.#options
    const report = (problem: string, error: unknown): void => console.warn(problem, error)
    const signal = who.signal ?? new AbortController().signal
    const cancelled = Promise.withResolvers<undefined>()
    const onAbort = (): void => cancelled.resolve(undefined)
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    const answers = await Promise.all(
      requests.map(async (request) => {
        if (request.kind !== 'confirmation') throw unanswerable(request)
        const asking = confirmationAnswer(request, signal, { confirmationProvider, allowUnconfirmed, report })
        const answer = await Promise.race([asking, cancelled.promise]) // a provider may not look at the signal
        if (!answer) throw new ToolError('Tool cancelled', { code: 'CANCELLED' })
        return answer
      }),
    ).finally(() => signal.removeEventListener('abort', onAbort))
    return await runner.answer(answers, { ...who, sessionId })
  }

  #runnerFor(timeoutMs: number | undefined): CallRunner {
    const known = this.#runners.get(timeoutMs)
    if (known) return known
    if (this.#runners.size >= MAX_RUNNERS) this.#runners.clear()
    return this.#makeRunner(timeoutMs)
  }

  #makeRunner(timeoutMs: number | undefined): CallRunner {
    const { timeoutMs: usual = 30_000, model = noModel, observers } = this.#options
    const tools = this.tools.map((one) => (timeoutMs === undefined ? one : overrideTool(one, { timeoutMs })))
    const deadline = timeoutMs ?? usual
    const runner = new CallRunner({
      appName: 'dispatcher',
      agentName: 'dispatcher',
      tools: [tools, this.#toolsets],
      model,
      toolTimeoutMs: deadline,
      agentToolTimeoutMs: deadline,
      callerId: this.#id,
      observers,
    })
    this.#runners.set(timeoutMs, runner)
    return runner
  }

  /** Cancels all calls and closes the toolsets. Later calls are refused. */
  async shutdown(): Promise<void> {
    this.#isShutDown = true
    await Promise.all([...this.#runners.values()].map((runner) => runner.close()))
  }

  /** Calls `shutdown()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown()
  }
}

function resultOf(outcome: CallOutcome, name: string, timeoutMs: number): JsonObject {
  if (outcome.type === 'ended')
    throw toolErrorOf({ error: outcome.error?.message, errorCode: outcome.error?.code }, name, timeoutMs)
  const result = outcome.type === 'result' ? outcome.result : outcome.handle
  if (!result) return {}
  const { response, modelOutput } = result
  if (typeof response.error === 'string' && typeof response.errorCode === 'string') {
    throw toolErrorOf(response, name, timeoutMs)
  }
  return modelOutput?.response ?? response
}

/** Makes the object equal to the state. */
function copyState(from: JsonObject, to: { [key: string]: unknown }): void {
  for (const key of Object.keys(to)) if (!Object.hasOwn(from, key)) delete to[key]
  for (const key of Object.keys(from)) to[key] = from[key]
}

function unanswerable({ kind, tool }: PendingRequest): ToolError {
  const problem = `Tool "${tool}" asks for ${kind === 'credential' ? 'a credential' : 'input'}, and no one can answer here`
  return new ToolError(`${problem}. Run it with a Runner.`, {
    code: kind === 'credential' ? 'AUTH_FAILED' : 'CANCELLED',
  })
}

function invalid(problem: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', `ToolDispatcher: ${problem}.`)
}
