// Agents people write themselves: what they yield is recorded, and they may run other agents inside.
import { deepFreeze } from '../../base/deep-freeze.ts'
import { isRecord, type JsonObject } from '../../base/json.ts'
import { kindOf } from '../../base/kind-of.ts'
import { clip, MAX_CONTENT_BYTES, MAX_METADATA_BYTES } from '../../base/limits.ts'
import { toJsonValue } from '../../base/to-json-value.ts'
import { type Content, hasParts, type Part } from '../../content/content.ts'
import { ToolwrightError } from '../../error/error.ts'
import type { Event, EventActions } from '../../event/event.ts'
import { childPath } from '../../event/scope.ts'
import type { MemoryEntry } from '../../memory/service.ts'
import { findEventProblem } from '../../session/validate-entry.ts'
import { RunCallbackContext } from '../../tool/callback-context.ts'
import type { Actions, Invocation, State } from '../../tool/context.ts'
import type { RunContext } from '../../tool/run-context.ts'
import { plainDelta } from '../../tool/state.ts'
import { next } from '../loop/next.ts'
import { type RunHost, type ScopeFrame, untilStopped } from '../loop/run-host.ts'
import { type Agent, type InvocationContext, RUN_SCOPE } from './agent.ts'

/** Thrown through a custom agent when one it runs must wait: it is run again when there is an answer. */
export class PausedInside extends Error {
  override readonly name: string = 'PausedInside'
}

/** Events of a child that its parent has not looked at yet, before partial ones are dropped: their wholes follow. */
const MAX_ARRIVED = 1_000

type RunChildScope = (run: RunHost, agent: Agent, frame: ScopeFrame) => Promise<'done' | 'wait'>

export async function runCustom(
  run: RunHost,
  agent: Agent,
  frame: ScopeFrame,
  walkChild: RunChildScope,
): Promise<void> {
  const context = new CustomContext(run, agent, frame, walkChild)
  await consume(run, agent, frame, context)
  if (context.isPaused) throw new PausedInside(`"${agent.name}" cannot end while one it runs waits for an answer`)
  const actions = { ...context.take(), endOfAgent: true }
  await run.recorder.commit([{ event: run.recorder.draft(agent.name, frame, undefined, actions) }])
}

async function consume(run: RunHost, agent: Agent, frame: ScopeFrame, context: CustomContext): Promise<void> {
  for await (const event of agent.run(context)) {
    if (run.stop.stopped) return
    if (!isRecord(event))
      throw new TypeError(`Agent "${agent.name}" yielded ${kindOf(event)}: yield events of createEvent().`)
    if (context.isRecorded(event)) continue
    const actions = actionsIn(event)
    const own = run.recorder.draft(agent.name, frame, contentIn(event, agent), { ...actions, ...context.take() })
    if (event.author && event.author !== 'user') own.author = event.author
    if (event.customMetadata) own.customMetadata = { ...own.customMetadata, ...metadataIn(event, agent) }
    if (event.errorCode !== undefined) own.errorCode = clip(String(event.errorCode))
    if (event.errorMessage !== undefined) own.errorMessage = clip(String(event.errorMessage))
    const problem = findEventProblem(own)
    if (problem !== undefined)
      throw new TypeError(`Agent "${agent.name}" yielded an event that cannot be stored: ${problem}`)
    if (!event.partial) {
      await run.recorder.commit([{ event: own }])
      continue
    }
    const behind = run.recorder.emit({ ...own, partial: true })
    if (behind) await untilStopped(run, behind)
  }
}

/** What an agent of one's own gives is anything. */
function actionsIn({ actions }: Event): EventActions {
  const { value } = toJsonValue(actions ?? {})
  if (!isRecord(value)) return {}
  const { stateDelta, ...others } = value
  return isRecord(stateDelta) ? { ...others, stateDelta: plainDelta(stateDelta) } : others
}

function contentIn({ content }: Event, { name }: Agent): Content | undefined {
  if (!content) return undefined
  const { value: plain, bytes } = toJsonValue(content)
  if (bytes > MAX_CONTENT_BYTES) throw tooLarge(name, 'content', MAX_CONTENT_BYTES)
  if (hasParts(plain)) return plain
  throw new TypeError(`Agent "${name}" gave an event whose content is no list of parts`)
}

function metadataIn({ customMetadata }: Event, { name }: Agent): JsonObject {
  const { value, bytes } = toJsonValue(customMetadata)
  if (bytes > MAX_METADATA_BYTES) throw tooLarge(name, 'customMetadata', MAX_METADATA_BYTES)
  return value as JsonObject
}

function tooLarge(name: string, what: string, most: number): ToolwrightError {
  const instead = 'Save what is larger as an artifact.'
  return new ToolwrightError(
    'TOO_LARGE',
    `The ${what} of an event of agent "${name}" has over ${most} bytes. ${instead}`,
  )
}

class CustomContext implements InvocationContext {
  readonly #run: RunHost
  readonly #agent: Agent
  readonly #frame: ScopeFrame
  readonly #walkChild: RunChildScope
  readonly #writes: RunCallbackContext
  /** How often each child was run: the n-th time is the n-th scope, also when all of it is run again. */
  readonly #times: Map<string, number> = new Map()
  /** One that it runs waits for somebody. */
  isPaused = false
  /** Events of those it runs: already in the log. */
  readonly #recorded: WeakSet<Event> = new WeakSet()

  constructor(run: RunHost, agent: Agent, frame: ScopeFrame, walkChild: RunChildScope) {
    this.#run = run
    this.#agent = agent
    this.#frame = frame
    this.#walkChild = walkChild
    this.#writes = new RunCallbackContext(run, agent.name, frame.branch)
  }
  get path(): string {
    return this.#frame.path
  }
  get events(): readonly Event[] {
    return this.#eventsIn(this.#frame.path)
  }
  get signal(): AbortSignal {
    return this.#run.stop.signal
  }
  get invocation(): Invocation {
    return this.#writes.invocation
  }
  get runContext(): RunContext {
    return this.#writes.runContext
  }
  get state(): State {
    return this.#writes.state
  }
  get actions(): Actions {
    return this.#writes.actions
  }
  saveArtifact(filename: string, part: Part, options?: { customMetadata?: JsonObject | undefined }): Promise<number> {
    return this.#writes.saveArtifact(filename, part, options)
  }
  loadArtifact(filename: string, version?: number): Promise<Part | undefined> {
    return this.#writes.loadArtifact(filename, version)
  }
  listArtifacts(): Promise<string[]> {
    return this.#writes.listArtifacts()
  }
  searchMemory(query: string): Promise<readonly MemoryEntry[]> {
    return this.#writes.searchMemory(query)
  }
  take(): EventActions | undefined {
    return this.#writes.take()
  }
  isRecorded(event: Event): boolean {
    return this.#recorded.has(event)
  }

  async *[RUN_SCOPE](child: Agent): AsyncGenerator<Event, void, undefined> {
    const nth = (this.#times.get(child.name) ?? 0) + 1
    this.#times.set(child.name, nth)
    const frame: ScopeFrame = { ...this.#frame, path: childPath(this.#frame.path, child.name, nth) }
    for (const event of this.#eventsIn(frame.path)) yield this.#pass(event)
    const { fold } = this.#run
    if (fold.hasStarted(frame.path) && next(child, { fold, tree: frame.tree }, frame.path).type === 'done') return
    yield* this.#follow(child, frame)
  }

  /** Walks the child and passes its events on as they happen. */
  async *#follow(child: Agent, frame: ScopeFrame): AsyncGenerator<Event, void, undefined> {
    let arrived: Event[] = []
    let wake: (() => void) | undefined
    const forget = this.#run.events.listen((event) => {
      if (!isIn(event, frame.path) || (event.partial && arrived.length >= MAX_ARRIVED)) return
      arrived.push(deepFreeze(event))
      wake?.()
    })
    let outcome: 'done' | 'wait' | undefined
    let failure: { reason: unknown } | undefined
    const walked = this.#walkChild(this.#run, child, frame)
      .then(
        (value) => {
          outcome = value
        },
        (reason) => {
          failure = { reason }
        },
      )
      .finally(() => wake?.())
    try {
      while (arrived.length || !(outcome || failure)) {
        const events = arrived
        arrived = []
        for (const event of events) yield this.#pass(event)
        if (events.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      }
    } finally {
      await walked // also when it is left early: what has begun comes to rest inside the run
      forget()
    }
    if (failure) throw failure.reason
    if (outcome === 'wait') {
      this.isPaused = true
      throw new PausedInside(`"${child.name}", run by "${this.#agent.name}", waits for an answer`)
    }
  }

  #pass(event: Event): Event {
    this.#recorded.add(event)
    return event
  }

  #eventsIn(path: string): Event[] {
    const { fold, view } = this.#run
    const own = view.events.filter((event) => event.invocationId === fold.invocationId && isIn(event, path))
    return own.map(deepFreeze) // they are the log's own
  }
}

function isIn(event: Event, path: string): boolean {
  const at = event.nodeInfo?.path
  return at !== undefined && (at === path || at.startsWith(`${path}/`))
}
