// The log of a session in the form that runs use: one fold per invocation, and the histories that models see. The
// runner keeps it between runs, and builds it again from the log if it has none.
import { type Content, hasMedia } from '../../../core/content/content.ts'
import type { Entry, Event, NewEntry, PhaseRecord } from '../../../core/event/event.ts'
import { Fold } from '../../../core/event/fold.ts'
import { openRequests, startsWaiting } from '../../../core/event/invocation-state.ts'
import { isOwnId, OWN_ID_PREFIX } from '../../../core/event/own-id.ts'
import type { ScopePath } from '../../../core/event/scope.ts'
import type { AgentTree } from '../agents/agent-tree.ts'
import { LlmAgent } from '../agents/llm-agent.ts'
import type { LlmAgentOptions } from '../agents/llm-agent-options.ts'
import { BEGINNING_OF_LOG, History, type HistoryStart } from '../request/history.ts'
import { isSendable } from '../request/sendable-calls.ts'
import { MAX_CALL_ID, MAX_MODEL_IDS, type StoredIds, storedIds } from './earlier-ids.ts'
import { type Next, next } from './next.ts'
import { startsTurn, type TurnStart, Turns } from './turns.ts'

/** An unfinished invocation and its next step. */
export interface OpenInvocation {
  /** The state of the invocation. */
  readonly fold: Fold
  /** Its next step. */
  readonly step: Next
}

/** A fold and its next step. The step is computed again when the fold has changed. */
class EvaluatedInvocation implements OpenInvocation {
  readonly fold: Fold
  /** The version of the fold that `step` was computed for. */
  version = -1
  step: Next = { type: 'done' }
  /** Whether the invocation waits only for results of long-running calls. */
  isDormant = false
  constructor(fold: Fold) {
    this.fold = fold
  }
}

/** Shared and never written, because most sessions have no unfinished earlier invocation. */
const NO_INVOCATIONS: Map<string, EvaluatedInvocation> = new Map()

/** The state of a view, without what follows from it and from the log. */
export interface ViewState {
  /** The sequence number of the latest entry. */
  readonly seq: number
  /** The number of events up to it. */
  readonly events: number
  /** Whether an event has a file. */
  readonly hasMedia: boolean
  /** Whether a call has waited for an answer or a result. */
  readonly hasWaited: boolean
  /** Whether a call id is repeated, missing or not sendable. */
  readonly hasRepeats: boolean
  /** The phase of the conversation. */
  readonly phase: PhaseRecord | undefined
  /** The agent that gets the next message. Undefined: the root agent. */
  readonly sticky: string | undefined
  /** The latest invocation. */
  readonly latest: Fold | undefined
  /** Earlier invocations that are unfinished. */
  readonly open: readonly Fold[]
  /** Ids of calls and requests of earlier invocations. */
  readonly earlierIds: StoredIds
  /** The index of the first event of each agent tool's scope, of unfinished invocations. */
  readonly isolated: Iterable<readonly [path: string, event: number]>
  /** Where the latest turns begin, as far as agents show no others. */
  readonly turns: readonly TurnStart[]
}

/** Which part of the log an agent shows to its model. Default: all of it. */
export type ShownContents = Pick<LlmAgentOptions, 'includeContents' | 'history'>

const ALL: ShownContents = {}

/** A view for everyone but the session that adds entries to it. */
export type ReadonlyView = Readonly<SessionView>

/** The log of a session, folded. */
export class SessionView {
  /** The events of the log, in order: all, or those since the checkpoint that the view was restored from. */
  readonly events: Event[] = []
  /** The number of events before those in `events`. */
  eventsBefore = 0
  /** The sequence number of the latest entry. */
  seq = 0
  /** Whether an event has a file. */
  hasMedia = false
  /** Whether a call has waited for an answer or a result. */
  hasWaited = false
  /** The phase that the conversation has reached; undefined if it never had phases. */
  phase: PhaseRecord | undefined
  /** Whether an entry could not be added. Then the view is incomplete and must not be used again. */
  isHalfRead = false
  readonly #tree: AgentTree
  #histories: History[] = []
  /** Earlier invocations that are unfinished, by id. */
  #open: Map<string, EvaluatedInvocation> = NO_INVOCATIONS
  /**
   * The invocations of `#open` that may wait for something other than long-running results. An invocation that
   * changed is here until it is evaluated again.
   */
  #awake: Map<string, EvaluatedInvocation> = NO_INVOCATIONS
  #evaluated: EvaluatedInvocation | undefined
  #latest: Fold | undefined
  #sticky: string | undefined
  /** Ids of calls and requests of earlier invocations. */
  #earlierIds: Set<string> | undefined
  /** How many of them the framework has not made. */
  #modelIds = 0
  /** The index of the first event of each agent tool's scope, until its invocation ends. A history of the scope starts there. */
  #isolated: Map<string, number> | undefined
  /** Where the latest turns begin. Undefined if all agents show the whole log. */
  #turns: Turns | undefined
  /** Whether the log has a call id that is repeated, missing or not sendable, as only logs of other programs have. */
  #hasRepeats = false

  constructor(tree: AgentTree) {
    this.#tree = tree
    const { most } = tree.shownTurns
    if (most > 0) this.#turns = new Turns(most)
  }

  /** A view in a state that was stored. Entries after it are added as usual; `prepend` adds the events before it. */
  static restore(tree: AgentTree, state: ViewState): SessionView {
    const view = new SessionView(tree)
    view.seq = state.seq
    view.eventsBefore = state.events
    view.hasMedia = state.hasMedia
    view.hasWaited = state.hasWaited
    view.phase = state.phase
    view.#hasRepeats = state.hasRepeats
    view.#sticky = state.sticky
    view.#latest = state.latest
    for (const fold of state.open) {
      const invocation = new EvaluatedInvocation(fold)
      view.#open = withInvocation(view.#open, invocation)
      view.#awake = withInvocation(view.#awake, invocation)
    }
    if (state.earlierIds === 'all') view.#modelIds = MAX_MODEL_IDS
    else for (const id of state.earlierIds) view.#remember(id)
    for (const [path, event] of state.isolated) view.#isolate(path, event)
    if (view.#turns) view.#turns = new Turns(tree.shownTurns.most, state.turns)
    return view
  }

  /** What a store must keep, so that `restore` makes an equal view. */
  get stored(): ViewState {
    const { seq, hasMedia, hasWaited, phase } = this
    return {
      seq,
      events: this.eventCount,
      hasMedia,
      hasWaited,
      hasRepeats: this.#hasRepeats,
      phase,
      sticky: this.#sticky,
      latest: this.isBetweenInvocations ? undefined : this.#latest,
      open: Array.from(this.#open.values(), ({ fold }) => fold),
      earlierIds: storedIds(this.#earlierIds, this.#modelIds),
      isolated: this.#isolated ?? [],
      turns: this.#turns?.starts ?? [],
    }
  }

  /** The number of events of the log. */
  get eventCount(): number {
    return this.eventsBefore + this.events.length
  }

  /** Adds the events right before those of the view, for histories that show them. */
  prepend(events: readonly Event[]): void {
    const later = this.events.splice(0)
    for (const list of [events, later]) for (const event of list) this.events.push(event) // a spread of 200,000 events overflows the stack
    this.eventsBefore -= events.length
  }

  /** Where the part of the log begins that the agents show. Undefined: they show all of it. */
  get shownFrom(): TurnStart | undefined {
    const { most, areEnough } = this.#tree.shownTurns
    return areEnough ? this.#turns?.start(most) : undefined
  }

  /** The events since `shownFrom`. */
  get shownEvents(): readonly Event[] {
    const start = this.shownFrom
    return start ? this.events.slice(Math.max(0, start.event - this.eventsBefore)) : this.events
  }

  /** Has the latest invocation no entry yet? Then there is little to store of the log. */
  get isBetweenInvocations(): boolean {
    return !this.#latest || this.#latest.version === 0
  }

  /** Notes that an event which is about to be recorded has a file. */
  noteMedia(): void {
    this.hasMedia = true
  }

  /** Notes that an entry which is about to be recorded makes a call wait. */
  noteWaiting(): void {
    this.hasWaited = true
  }

  /** Adds the entries of the log that the view does not have yet. */
  catchUp(entries: readonly Entry[]): void {
    let at = entries.length
    while (at > 0 && (entries[at - 1] as Entry).seq > this.seq) at--
    for (; at < entries.length; at++) {
      const entry = entries[at] as Entry
      this.isHalfRead = true
      // with a missing or repeated entry, calls could run twice
      if (entry.seq !== this.seq + 1) {
        throw new Error(`The event log has a missing or repeated entry: entry ${entry.seq} follows entry ${this.seq}.`)
      }
      if (entry.event?.turnComplete) this.#checkIds(entry.event) // another process may have written it
      if (!this.hasMedia && entry.event?.content) this.hasMedia = hasMedia(entry.event.content.parts)
      if (!this.hasWaited) this.hasWaited = startsWaiting(entry)
      this.add(entry, entry.seq)
    }
  }

  /** Adds an entry that is stored under this sequence number. Does nothing if the view already has it. */
  add(entry: NewEntry, seq: number): void {
    if (seq <= this.seq) return
    this.isHalfRead = true
    this.seq = seq
    this.#addToFold(entry, seq)
    this.isHalfRead = false
  }

  #addToFold(entry: NewEntry, seq: number): void {
    if (entry.event) {
      if (this.#turns && startsTurn(entry.event)) this.#turns.add(seq, this.eventCount, this.#unfinishedFolds())
      this.events.push(entry.event)
      if (!entry.event.turnComplete) this.#checkIds(entry.event) // `CallIds` has checked those of a reply
    } else if (entry.record.type === 'phase') this.phase = entry.record
    const fold = this.foldFor(entry)
    const isolation = entry.event?.isolationScope
    if (isolation !== undefined && !this.#isolated?.has(isolation)) this.#isolate(isolation, this.eventCount - 1)
    if (!fold) return
    fold.add(entry, seq)
    if (fold !== this.#latest) this.#noteChange(fold, entry.event)
  }

  *#unfinishedFolds(): Iterable<Fold> {
    for (const { fold } of this.#open.values()) yield fold
    if (this.#latest) yield this.#latest
  }

  #isolate(path: string, event: number): void {
    this.#isolated ??= new Map()
    this.#isolated.set(path, event)
  }

  /** Notes that an earlier invocation has a new entry, so that it is evaluated again. */
  #noteChange(fold: Fold, event: Event | undefined): void {
    const open = this.#open.get(fold.invocationId)
    if (open) this.#awake = withInvocation(this.#awake, open)
    if (event?.content?.role !== 'model') return
    for (const { functionCall, executableCode } of event.content.parts) {
      const id = functionCall?.id ?? executableCode?.id
      if (id !== undefined && fold.hasId(id)) this.#remember(id)
    }
  }

  /** The fold that an entry belongs to. Undefined for edits of the state, and for phases. */
  foldFor({ event, record }: NewEntry): Fold | undefined {
    if (event ? isStateEdit(event) : record.type === 'phase') return undefined
    return this.foldOf((event ?? record).invocationId)
  }

  /** The fold of an invocation. A new invocation starts with the agent that was active last. */
  foldOf(invocationId: string): Fold {
    if (this.#latest?.invocationId === invocationId) return this.#latest
    const known = this.#open.get(invocationId)
    if (known) return known.fold
    this.#retireLatest()
    this.#latest = new Fold(invocationId, this.#sticky)
    return this.#latest
  }

  /** Unfinished invocations and the next step of each. */
  open(): readonly OpenInvocation[] {
    if (!this.#latest && this.#open.size === 0) return NONE
    return this.#unfinished(this.#open.values())
  }

  /** Unfinished invocations without those that only wait for long-running results, of which there may be many. */
  awake(): readonly OpenInvocation[] {
    if (!this.#latest && this.#awake.size === 0) return NONE
    for (const invocation of this.#awake.values()) {
      if (this.#evaluate(invocation).isDormant) this.#awake.delete(invocation.fold.invocationId)
    }
    return this.#unfinished(this.#awake.values()).filter((invocation) => !(invocation as EvaluatedInvocation).isDormant)
  }

  #unfinished(earlier: Iterable<EvaluatedInvocation>): OpenInvocation[] {
    const found: OpenInvocation[] = []
    for (const invocation of earlier) if (this.#evaluate(invocation).step.type !== 'done') found.push(invocation)
    // an empty fold is left by a run that failed before it recorded anything
    if (!this.#latest || isEmpty(this.#latest)) return found
    if (this.#evaluated?.fold !== this.#latest) this.#evaluated = new EvaluatedInvocation(this.#latest)
    if (this.#evaluate(this.#evaluated).step.type !== 'done') found.push(this.#evaluated)
    return found
  }

  #evaluate(invocation: EvaluatedInvocation): EvaluatedInvocation {
    const { fold } = invocation
    if (invocation.version === fold.version) return invocation
    invocation.version = fold.version
    invocation.step = this.stepOf(fold)
    invocation.isDormant = isDormant(fold, invocation.step)
    return invocation
  }

  /** Are there other unfinished invocations? */
  hasOthers(fold: Fold): boolean {
    const isEarlier = this.#open.get(fold.invocationId)?.fold === fold
    return this.#open.size > (isEarlier ? 1 : 0) || (this.#latest !== undefined && this.#latest !== fold)
  }

  /** Does a call or a request of this session have this id? */
  hasId(id: string): boolean {
    if (this.#latest?.hasId(id) || this.#earlierIds?.has(id)) return true
    return this.#modelIds >= MAX_MODEL_IDS && !isOwnId(id)
  }

  /** Checks that each call id is sendable and new. If not, histories are built again, with ids made unique. */
  #checkIds({ content, nodeInfo }: Event): void {
    if (content?.role !== 'model') return
    const { parts } = content
    for (let at = 0; at < parts.length; at++) {
      const call = parts[at]?.functionCall ?? parts[at]?.executableCode
      if (!call) continue
      const { id } = call
      if (!this.#hasRepeats && (!isSendable(id) || this.hasId(id))) {
        this.#hasRepeats = true
        this.#histories = []
      }
      if (!nodeInfo && id !== undefined) this.#remember(id) // an event of another framework is in no fold
    }
  }

  #remember(callId: string): void {
    this.#earlierIds ??= new Set()
    if (this.#earlierIds.has(callId)) return
    if (!callId.startsWith(OWN_ID_PREFIX)) {
      if (this.#modelIds >= MAX_MODEL_IDS || callId.length > MAX_CALL_ID) return // a longer id is replaced in any case
      this.#modelIds++
    }
    this.#earlierIds.add(callId)
  }

  #rememberIds({ calls }: Fold): void {
    for (const { id, requests } of calls.values()) {
      this.#remember(id)
      for (const { request } of requests) this.#remember(request.id)
    }
  }

  /** Removes an invocation that has ended. */
  close(fold: Fold): void {
    const { invocationId } = fold
    if (this.#open.get(invocationId)?.fold === fold) this.#forgetScopes(fold)
    this.#open.delete(invocationId)
    this.#awake.delete(invocationId)
  }

  /** Agent tools of an invocation that has ended do not run again. */
  #forgetScopes({ scopes }: Fold): void {
    if (!this.#isolated?.size) return
    for (const { isolation } of scopes.values()) if (isolation !== undefined) this.#isolated.delete(isolation)
  }

  /** The next step of an invocation. */
  stepOf(fold: Fold): Next {
    return next(this.#tree.root, { fold, tree: this.#tree }, this.#tree.root.name)
  }

  /** The contents that the model of an agent sees. */
  history(agentName: string, scope: ScopePath, shown: ShownContents = ALL): Content[] {
    return this.#historyOf(agentName, scope, shown).upTo(this.events, shown.includeContents, this.eventsBefore)
  }

  /** The index in `history()` of the user's latest message, or of the message `earlier` messages before it. */
  turnStart(agentName: string, scope: ScopePath, shown: ShownContents, earlier: number): number {
    return this.#historyOf(agentName, scope, shown).turnStart(shown.includeContents, earlier)
  }

  #historyOf(agentName: string, scope: ScopePath, { history: option }: ShownContents): History {
    const { isolation } = scope
    const turn = option && isolation === undefined ? this.#turns?.start(option.lastTurns) : undefined
    const known = this.#histories.find((one) => one.belongsTo(agentName, scope))
    // the history of an agent tool stays; another one begins anew with each turn
    if (known && (isolation !== undefined || known.start === (turn ?? BEGINNING_OF_LOG))) return known
    const start = turn ?? (isolation === undefined ? BEGINNING_OF_LOG : this.#startOf(isolation))
    if (start.event < this.eventsBefore) throw new Error(`The history of agent "${agentName}" is not in memory.`)
    const history = new History(agentName, scope, this.#hasRepeats, start)
    this.#histories = [...this.#histories.filter((one) => one !== known), history]
    return history
  }

  #startOf(isolation: string): HistoryStart {
    return { event: this.#isolated?.get(isolation) ?? this.eventCount, open: [] }
  }

  /** The agent that gets the message after an invocation. Undefined: the root agent. */
  #startAfter(fold: Fold): string | undefined {
    const name = fold.scopes.get(this.#tree.root.name)?.active
    const target = name === undefined ? undefined : this.#tree.find(name)
    if (!(target instanceof LlmAgent)) return this.#sticky
    return this.#tree.canReturnToRoot(target) ? name : undefined
  }

  /** Makes the latest invocation an earlier one. */
  #retireLatest(): void {
    const fold = this.#latest
    if (!fold) return
    this.#latest = undefined
    this.#rememberIds(fold)
    this.#sticky = this.#startAfter(fold)
    const ended = this.#evaluated?.fold === fold ? this.#evaluated : new EvaluatedInvocation(fold)
    if (!isEmpty(fold) && this.#evaluate(ended).step.type !== 'done') {
      this.#open = withInvocation(this.#open, ended)
      if (!ended.isDormant) this.#awake = withInvocation(this.#awake, ended)
    } else if (this.#isolated?.size) this.#forgetScopes(fold)
    for (const invocation of this.#awake.values()) {
      if (this.#evaluate(invocation).step.type === 'done') this.close(invocation.fold)
    }
    // an agent tool's history ends with its invocation; a resumed invocation builds it again
    this.#histories = this.#histories.filter((history) => !history.isIsolated)
  }
}

/** Adds an invocation. Returns a new map if `all` is the shared empty one. */
function withInvocation(
  all: Map<string, EvaluatedInvocation>,
  invocation: EvaluatedInvocation,
): Map<string, EvaluatedInvocation> {
  const own = all === NO_INVOCATIONS ? new Map<string, EvaluatedInvocation>() : all
  return own.set(invocation.fold.invocationId, invocation)
}

/** Does the invocation wait for results of long-running calls, and for no answer? The time of a background call must be watched. */
function isDormant(fold: Fold, step: Next): boolean {
  if (step.type !== 'wait' || !step.on.every(({ pending, background }) => pending && !background)) return false
  return fold.waitingCalls().every((call) => openRequests(call).length === 0)
}

const NONE: readonly OpenInvocation[] = []

/** Is the event a change of state by the app, outside any invocation? */
function isStateEdit(event: Event): boolean {
  return event.author === 'user' && !event.content
}

function isEmpty({ userEvent, scopes }: Fold): boolean {
  return !userEvent && scopes.size === 0
}
