// Runs agents that a developer wrote. The events they yield are recorded, and they can run other agents inside.
import { deepFreeze } from '../../../core/base/deep-freeze.ts'
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import { clip, MAX_CONTENT_BYTES, MAX_METADATA_BYTES } from '../../../core/base/limits.ts'
import { toJsonValue } from '../../../core/base/to-json-value.ts'
import { type Content, hasParts } from '../../../core/content/content.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { Event, EventActions } from '../../../core/event/event.ts'
import { childPath, isWithin } from '../../../core/event/scope.ts'
import { findEventProblem } from '../../../services/session/storable-entry.ts'
import { RunCallbackContext } from '../../context/callback-context.ts'
import type { Actions, Invocation, State } from '../../context/context.ts'
import { ForwardingContext } from '../../context/forwarding-context.ts'
import type { RunContext } from '../../context/run-context.ts'
import { toStateDelta } from '../../context/state.ts'
import { next } from '../loop/next.ts'
import { type RunHost, type ScopeFrame, untilStopped } from '../loop/run-host.ts'
import { type Agent, type InvocationContext, RUN_SCOPE } from './agent.ts'

/**
 * Thrown into a custom agent when an agent that it runs waits for an answer. After the answer, the custom agent runs
 * again from the start.
 */
export class ChildPaused extends Error {
  /** The name of the error class. */
  override readonly name: string = 'ChildPaused'
}

/**
 * Maximum number of child events that wait until the custom agent reads them. Above this number, partial events are
 * dropped.
 */
const MAX_UNREAD_EVENTS = 1_000

type RunChildScope = (run: RunHost, agent: Agent, frame: ScopeFrame) => Promise<'done' | 'wait'>

/** Runs a custom agent and records its events. Throws `ChildPaused` if an agent it runs waits for an answer. */
export async function runCustomAgent(
  run: RunHost,
  agent: Agent,
  frame: ScopeFrame,
  runChildScope: RunChildScope,
): Promise<void> {
  const context = new CustomContext(run, agent, frame, runChildScope)
  await recordEvents(run, agent, frame, context)
  if (context.isPaused) {
    throw new ChildPaused(`Agent "${agent.name}" cannot end while an agent that it runs waits for an answer.`)
  }
  const actions = { ...context.take(), endOfAgent: true }
  await run.recorder.commit([{ event: run.recorder.draft(agent.name, frame, undefined, actions) }])
}

async function recordEvents(run: RunHost, agent: Agent, frame: ScopeFrame, context: CustomContext): Promise<void> {
  for await (const event of agent.run(context)) {
    if (run.stop.stopped) return
    if (!isRecord(event))
      throw new TypeError(`Agent "${agent.name}" yielded ${kindOf(event)}. Yield events made by createEvent().`)
    if (context.isRecorded(event)) continue
    const actions = actionsIn(event)
    const own = run.recorder.draft(agent.name, frame, contentIn(event, agent), { ...actions, ...context.take() })
    if (event.author && event.author !== 'user') own.author = event.author
    if (event.customMetadata) own.customMetadata = { ...own.customMetadata, ...metadataIn(event, agent) }
    if (event.errorCode !== undefined) own.errorCode = clip(String(event.errorCode))
    if (event.errorMessage !== undefined) own.errorMessage = clip(String(event.errorMessage))
    const problem = findEventProblem(own)
    if (problem !== undefined)
      throw new TypeError(
        `Agent "${agent.name}" yielded an event that cannot be stored: ${problem}. Correct its content or actions.`,
      )
    if (!event.partial) {
      await run.recorder.commit([{ event: own }])
      continue
    }
    const behind = run.recorder.emit(own)
    if (behind) await untilStopped(run, behind)
  }
}

/** Converts the actions of an event to JSON. They are not checked yet: a custom agent can yield any value. */
function actionsIn({ actions }: Event): EventActions {
  const { value } = toJsonValue(actions ?? {})
  if (!isRecord(value)) return {}
  const { stateDelta, ...others } = value
  return isRecord(stateDelta) ? { ...others, stateDelta: toStateDelta(stateDelta) } : others
}

function contentIn({ content }: Event, { name }: Agent): Content | undefined {
  if (!content) return undefined
  const { value: plain, bytes } = toJsonValue(content)
  if (bytes > MAX_CONTENT_BYTES) throw tooLarge(name, 'content', MAX_CONTENT_BYTES)
  if (hasParts(plain)) return plain
  throw new TypeError(
    `Agent "${name}" yielded an event whose content has no list of parts. Use { role, parts: [...] }.`,
  )
}

function metadataIn({ customMetadata }: Event, { name }: Agent): JsonObject {
  const { value, bytes } = toJsonValue(customMetadata)
  if (bytes > MAX_METADATA_BYTES) throw tooLarge(name, 'customMetadata', MAX_METADATA_BYTES)
  return value as JsonObject
}

function tooLarge(name: string, what: string, most: number): ToolwrightError {
  return new ToolwrightError(
    'TOO_LARGE',
    `The ${what} of an event of agent "${name}" has more than ${most} bytes. Save large data as an artifact.`,
  )
}

class CustomContext extends ForwardingContext implements InvocationContext {
  readonly #run: RunHost
  readonly #agent: Agent
  readonly #frame: ScopeFrame
  readonly #runChildScope: RunChildScope
  protected readonly target: RunCallbackContext
  /** How often each child ran. The n-th run is the n-th scope, also when the custom agent is resumed. */
  readonly #runCounts: Map<string, number> = new Map()
  /** Whether an agent that this agent runs waits for an answer. */
  isPaused = false
  /** Events of child agents. They are already in the log. */
  readonly #recorded: WeakSet<Event> = new WeakSet()

  constructor(run: RunHost, agent: Agent, frame: ScopeFrame, runChildScope: RunChildScope) {
    super()
    this.#run = run
    this.#agent = agent
    this.#frame = frame
    this.#runChildScope = runChildScope
    this.target = new RunCallbackContext(run, agent.name, frame.branch)
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
    return this.target.invocation
  }
  get runContext(): RunContext {
    return this.target.runContext
  }
  get state(): State {
    return this.target.state
  }
  get actions(): Actions {
    return this.target.actions
  }
  take(): EventActions | undefined {
    return this.target.take()
  }
  isRecorded(event: Event): boolean {
    return this.#recorded.has(event)
  }

  async *[RUN_SCOPE](child: Agent): AsyncGenerator<Event, void, undefined> {
    const nth = (this.#runCounts.get(child.name) ?? 0) + 1
    this.#runCounts.set(child.name, nth)
    const frame: ScopeFrame = { ...this.#frame, path: childPath(this.#frame.path, child.name, nth) }
    for (const event of this.#eventsIn(frame.path)) yield this.#markRecorded(event)
    const { fold } = this.#run
    if (fold.hasStarted(frame.path) && next(child, { fold, tree: frame.tree }, frame.path).type === 'done') return
    yield* this.#runChild(child, frame)
  }

  /** Runs the child and yields its events as they happen. */
  async *#runChild(child: Agent, frame: ScopeFrame): AsyncGenerator<Event, void, undefined> {
    let unread: Event[] = []
    let wake: (() => void) | undefined
    const stopListening = this.#run.events.listen((event) => {
      if (!isInScope(event, frame.path) || (event.partial && unread.length >= MAX_UNREAD_EVENTS)) return
      unread.push(deepFreeze(event))
      wake?.()
    })
    let outcome: 'done' | 'wait' | undefined
    let failure: { reason: unknown } | undefined
    const settled = this.#runChildScope(this.#run, child, frame)
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
      while (unread.length || !(outcome || failure)) {
        const events = unread
        unread = []
        for (const event of events) yield this.#markRecorded(event)
        if (events.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      }
    } finally {
      await settled // also if the custom agent stops iterating: the child must not outlive its run
      stopListening()
    }
    if (failure) throw failure.reason
    if (outcome === 'wait') {
      this.isPaused = true
      throw new ChildPaused(`Agent "${child.name}", run by agent "${this.#agent.name}", waits for an answer.`)
    }
  }

  #markRecorded(event: Event): Event {
    this.#recorded.add(event)
    return event
  }

  #eventsIn(path: string): Event[] {
    const { fold, view } = this.#run
    const own = view.events.filter((event) => event.invocationId === fold.invocationId && isInScope(event, path))
    return own.map(deepFreeze) // frozen, because the log holds the same objects
  }
}

function isInScope({ nodeInfo }: Event, path: string): boolean {
  return nodeInfo !== undefined && isWithin(nodeInfo.path, path)
}
