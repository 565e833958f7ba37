// Shared by scenarios: a run in one line, timers fired by hand, a store that records its appends.
import {
  type Event,
  type FunctionResponse,
  InMemorySessionService,
  type JsonObject,
  LlmAgent,
  type LlmAgentOptions,
  type Logger,
  type Ports,
  Runner,
  type RunnerOptions,
  type SessionService,
  type Tool,
  ToolwrightError,
} from 'toolwright'
import type { Intent, LogRecord } from 'toolwright/store'
import { type ScriptedModel, type ScriptedStep, scriptedModel } from 'toolwright/testing'

export interface Call {
  readonly name: string
  readonly args?: JsonObject
  readonly id?: string
}

export interface ScenarioResult {
  readonly text: string
  readonly error: { code: string; message: string } | undefined
  /** Every event that was yielded, partial ones too. */
  readonly events: readonly Event[]
  /** Every recorded response, in order. */
  readonly responses: readonly FunctionResponse[]
  /** The response to the first call. */
  readonly response: JsonObject
  readonly model: ScriptedModel
  readonly runner: Runner
  readonly sessionId: string
  readonly invocationId: string
  readonly state: JsonObject
}

export interface Scenario {
  readonly tools?: LlmAgentOptions['tools']
  /** The model's first reply calls these tools; its second reply is "done". */
  readonly calls?: readonly Call[]
  /** Instead of `calls`: every reply of the model. */
  readonly steps?: readonly ScriptedStep[]
  readonly agent?: Partial<LlmAgentOptions>
  readonly runner?: Partial<RunnerOptions>
  readonly stateDelta?: JsonObject
  readonly signal?: AbortSignal
  readonly streaming?: boolean
}

/** Creates a runner for the scenario, and its scripted model. */
export function createScenario(story: Scenario): { runner: Runner; model: ScriptedModel } {
  const model = scriptedModel(story.steps ?? [{ calls: story.calls ?? [] }, 'done'])
  const agent = new LlmAgent({ name: 'agent', model, tools: story.tools, ...story.agent })
  return { model, runner: new Runner({ appName: 'app', agent, logger: silentLogger, ...story.runner }) }
}

/** Runs the scenario to its end, as user ada. */
export async function runScenario(story: Scenario): Promise<ScenarioResult> {
  const { runner, model } = createScenario(story)
  return await runMessage(runner, model, story)
}

/** Sends one message to a runner and reads the run to its end. */
export async function runMessage(
  runner: Runner,
  model: ScriptedModel,
  options: { sessionId?: string; stateDelta?: JsonObject; signal?: AbortSignal; streaming?: boolean } = {},
): Promise<ScenarioResult> {
  const { sessionId: given, stateDelta, signal, streaming } = options
  const run = runner.run({
    userId: 'ada',
    sessionId: given,
    message: 'go',
    stateDelta,
    signal,
    runConfig: { streaming },
  })
  const events: Event[] = []
  for await (const event of run) events.push(event)
  const { sessionId, invocationId } = run
  const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId })
  const ended = events.findLast((event) => event.errorCode !== undefined)
  const last = events.findLast((event) => event.content?.role === 'model' && !event.partial)
  const responses = responsesOf(events)
  return {
    text: last?.content?.parts.map((part) => part.text ?? '').join('') ?? '',
    error: ended && { code: ended.errorCode as string, message: ended.errorMessage ?? '' },
    events,
    responses,
    response: responses[0]?.response ?? {},
    model,
    runner,
    sessionId,
    invocationId,
    state: session?.state ?? {},
  }
}

/** The recorded responses among events. */
export function responsesOf(events: readonly Event[]): FunctionResponse[] {
  return events
    .filter((event) => !event.partial)
    .flatMap((event) => event.content?.parts.flatMap((part) => part.functionResponse ?? []) ?? [])
}

/** The partial responses among events: progress reported while a tool ran. */
export function progressOf(events: readonly Event[]): FunctionResponse[] {
  return events
    .filter((event) => event.partial && event.content?.role === 'tool')
    .flatMap((event) => event.content?.parts.flatMap((part) => part.functionResponse ?? []) ?? [])
}

/** The names of the tools offered to the model in its n-th request. */
export function offeredTools(model: ScriptedModel, request = 0): string[] {
  return declarationsOf(model, request).map(({ name }) => name)
}

export function declarationsOf(model: ScriptedModel, request = 0): { name: string; [key: string]: unknown }[] {
  return (model.requests[request]?.config.tools ?? []).flatMap(
    (entry) => (entry.functionDeclarations as readonly { name: string }[] | undefined) ?? [],
  )
}

/** A tool with a name and a body, built without `tool()`: any object with these members is a tool. */
export function plainTool(name: string, run: Tool['run'], more: Partial<Tool> = {}): Tool {
  return { name, description: name, declaration: () => ({ name, description: name }), run, effect: 'none', ...more }
}

export const silentLogger: Logger = { warn: () => {}, error: () => {} }

/** A logger that keeps every line. */
export function recordingLogger(): { lines: string[]; warn(message: string): void; error(message: string): void } {
  const lines: string[] = []
  return { lines, warn: (message) => lines.push(message), error: (message) => lines.push(message) }
}

/** A promise that the test settles. */
export function createDeferred<T = void>(): {
  promise: Promise<T>
  resolve: (value: T) => void
  reject: (e: unknown) => void
} {
  return Promise.withResolvers<T>()
}

/** Yields to other tasks until the condition holds. */
export async function waitUntil(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
}

/** Timers that fire only when the test fires them. */
export class ManualTimers {
  #timers: { ms: number; callback: () => void }[] = []
  #waiting: { ms: number; found: () => void }[] = []
  readonly ports: Partial<Ports> = {
    setTimer: (callback, ms) => {
      const timer = { ms, callback }
      this.#timers.push(timer)
      for (const one of this.#waiting.filter((waiting) => waiting.ms === ms)) one.found()
      return () => {
        this.#timers = this.#timers.filter((other) => other !== timer)
      }
    },
  }
  /** How many timers of that length are set. */
  count(ms: number): number {
    return this.#timers.filter((timer) => timer.ms === ms).length
  }
  /** Fires a timer of that length; waits until one is set. */
  async fire(ms: number): Promise<void> {
    if (this.count(ms) === 0) await new Promise<void>((found) => this.#waiting.push({ ms, found }))
    const timer = this.#timers.find((one) => one.ms === ms)
    this.#timers = this.#timers.filter((other) => other !== timer)
    timer?.callback()
  }
}

/** An in-memory session service that keeps every appended entry, records included. */
export function createRecordingStore(): { sessionService: SessionService; appended: (Event | LogRecord)[] } {
  const sessionService = new InMemorySessionService()
  const appended: (Event | LogRecord)[] = []
  const append = sessionService.append.bind(sessionService)
  sessionService.append = async (lease, seq, entries, options) => {
    for (const entry of entries) appended.push(entry.event ?? entry.record)
    return await append(lease, seq, entries, options)
  }
  return { sessionService, appended }
}

/** The intent records among appended entries. */
export function intentsOf(appended: readonly (Event | LogRecord)[]): Intent[] {
  return appended.filter((one): one is Intent => 'type' in one && one.type === 'intent')
}

/** Rejects appends of tool responses while `isFailing`: the body has run, and the log has no response. */
export class FailingStore extends InMemorySessionService {
  isFailing = true
  override append(...args: Parameters<InMemorySessionService['append']>): Promise<number> {
    if (this.isFailing && args[2].some(({ event }) => event?.content?.role === 'tool')) {
      return Promise.reject(new ToolwrightError('STORAGE', 'The disk is full.'))
    }
    return super.append(...args)
  }
}

/** All items of a stream. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
