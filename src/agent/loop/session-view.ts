// A session's log as a run uses it: folded per invocation, with the histories models see. Rebuilt when absent.
import { registerShape } from '../../base/object-shapes.ts'
import { type Content, hasMedia } from '../../content/content.ts'
import type { Entry, Event, NewEntry } from '../../event/event.ts'
import { Fold, openRequests, startsWaiting } from '../../event/fold.ts'
import type { ScopePath } from '../../event/scope.ts'
import type { AgentTree } from '../agents/agent-tree.ts'
import { LlmAgent } from '../agents/llm-agent.ts'
import { History } from '../request/history.ts'
import { isSendable } from '../request/sendable-calls.ts'
import { type Next, next } from './next.ts'

/** Shared and never written: most sessions have no earlier invocation that is unfinished. */
const NO_INVOCATIONS: Map<string, Evaluated> = new Map()

export class SessionView {
  readonly events: Event[] = []
  readonly #tree: AgentTree
  #histories: History[] = []
  /** Earlier invocations that were not at their end, by id. */
  #open: Map<string, Evaluated> = NO_INVOCATIONS
  /** Those of them that may do more than wait for long-running results, or have changed since that was found out. */
  #awake: Map<string, Evaluated> = NO_INVOCATIONS
  #evaluated: Evaluated | undefined
  #latest: Fold | undefined
  #sticky: string | undefined
  #seq = 0
  /** Ids that calls and requests of earlier invocations had. */
  #earlierIds: Set<string> | undefined
  /** Where the events of each agent tool's scope begin: its history need not look further back. */
  #isolated: Map<string, number> | undefined
  /** Some id is there twice, or missing, or cannot be sent: not by us. */
  #hasRepeats = false
  /** Some event holds a file. Set by the recorder for new events. */
  hasMedia = false
  /** Some call has waited for an answer or a result. Set by the recorder for new entries. */
  hasWaited = false
  /** A run has it. One that lost its lease before it began may still have it when the next run begins. */
  isHeld = false
  /** Taking in an entry failed: the view must not be used again. */
  isHalfRead = false
  /**
   * The ids of what each invocation waits for, as the store has them. Undefined = they have to be stored again: by
   * another process, or by an append that failed, they may have become others.
   */
  listed: ReadonlyMap<string, string> | undefined

  constructor(tree: AgentTree) {
    this.#tree = tree
  }

  /** The last sequence number that was taken in. */
  get seq(): number {
    return this.#seq
  }

  catchUp(entries: readonly Entry[]): void {
    let at = entries.length
    while (at > 0 && (entries[at - 1] as Entry).seq > this.#seq) at--
    if (at < entries.length) this.listed = undefined
    for (; at < entries.length; at++) {
      const entry = entries[at] as Entry
      this.isHalfRead = true
      // a store that leaves an entry out, or gives one twice, would let calls run on half of their log
      if (entry.seq !== this.#seq + 1) throw new Error(`entry ${entry.seq} follows entry ${this.#seq}`)
      if (entry.event?.turnComplete) this.#checkIds(entry.event) // another process may have written it
      if (!this.hasMedia && entry.event?.content) this.hasMedia = hasMedia(entry.event.content.parts)
      if (!this.hasWaited) this.hasWaited = startsWaiting(entry)
      this.add(entry, entry.seq)
    }
  }

  /** Takes in what is stored under this number, once. */
  add(entry: NewEntry, seq: number): void {
    if (seq <= this.#seq) return
    this.isHalfRead = true
    this.#seq = seq
    this.#takeIn(entry, seq)
    this.isHalfRead = false
  }

  #takeIn(entry: NewEntry, seq: number): void {
    if (entry.event) {
      const { isolationScope } = entry.event
      if (isolationScope !== undefined && !this.#isolated?.has(isolationScope)) {
        this.#isolated ??= new Map()
        this.#isolated.set(isolationScope, this.events.length)
      }
      this.events.push(entry.event)
      if (!entry.event.turnComplete) this.#checkIds(entry.event) // a model's reply has ids that we gave or looked at
      if (isStateEdit(entry.event)) return
    }
    const fold = this.foldOf((entry.event ?? entry.record).invocationId)
    fold.add(entry, seq)
    if (fold !== this.#latest) this.#changed(fold, entry.event)
  }

  /** An earlier invocation continues. */
  #changed(fold: Fold, event: Event | undefined): void {
    const open = this.#open.get(fold.invocationId)
    if (open) this.#awake = withInvocation(this.#awake, open)
    if (event?.content?.role !== 'model') return
    for (const { functionCall, executableCode } of event.content.parts) {
      const id = functionCall?.id ?? executableCode?.id
      if (id !== undefined && fold.hasId(id)) this.#remember(id)
    }
  }

  /** The fold of an invocation; a new one begins where the latest transfer left control. */
  foldOf(invocationId: string): Fold {
    if (this.#latest?.invocationId === invocationId) return this.#latest
    const known = this.#open.get(invocationId)
    if (known) return known.fold
    this.#retire()
    this.#latest = new Fold(invocationId, this.#sticky)
    return this.#latest
  }

  /** Unfinished invocations and the next step of each. */
  open(): readonly OpenInvocation[] {
    if (!this.#latest && this.#open.size === 0) return NONE
    return this.#unfinished(this.#open.values())
  }

  /** The same without those that only wait for long-running results: there may be any number of them. */
  awake(): readonly OpenInvocation[] {
    if (!this.#latest && this.#awake.size === 0) return NONE
    for (const one of this.#awake.values()) {
      if (this.#evaluate(one).isDormant) this.#awake.delete(one.fold.invocationId)
    }
    return this.#unfinished(this.#awake.values()).filter((one) => !(one as Evaluated).isDormant)
  }

  #unfinished(earlier: Iterable<Evaluated>): OpenInvocation[] {
    const found: OpenInvocation[] = []
    for (const one of earlier) if (this.#evaluate(one).step.type !== 'done') found.push(one)
    // a run that failed before it recorded anything left none
    if (!this.#latest || isEmpty(this.#latest)) return found
    if (this.#evaluated?.fold !== this.#latest) this.#evaluated = new Evaluated(this.#latest)
    if (this.#evaluate(this.#evaluated).step.type !== 'done') found.push(this.#evaluated)
    return found
  }

  #evaluate(one: Evaluated): Evaluated {
    const { fold } = one
    if (one.version === fold.version) return one
    one.version = fold.version
    one.step = this.stepOf(fold)
    one.isDormant = onlyLongRunning(one.step) && fold.waitingCalls().every((call) => openRequests(call).length === 0)
    return one
  }

  /** Are there unfinished invocations beside this one? */
  hasOthers(fold: Fold): boolean {
    const isEarlier = this.#open.get(fold.invocationId)?.fold === fold
    return this.#open.size > (isEarlier ? 1 : 0) || (this.#latest !== undefined && this.#latest !== fold)
  }

  /** Does a call or a request of this session have this id? */
  hasId(id: string): boolean {
    return this.#latest?.hasId(id) || this.#earlierIds?.has(id) || false
  }

  /** Models are shown each id once: histories that counted on it are made anew when one is not fit. */
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
      if (!nodeInfo && id !== undefined) this.#remember(id) // of an invocation from elsewhere: in no fold
    }
  }

  #remember(callId: string): void {
    this.#earlierIds ??= new Set()
    this.#earlierIds.add(callId)
  }

  #rememberIds({ calls }: Fold): void {
    for (const { id, requests } of calls.values()) {
      this.#remember(id)
      for (const { request } of requests) this.#remember(request.id)
    }
  }

  /** An invocation has ended: nothing needs its fold any more. */
  close({ invocationId }: Fold): void {
    this.#open.delete(invocationId)
    this.#awake.delete(invocationId)
  }

  stepOf(fold: Fold): Next {
    return next(this.#tree.root, { fold, tree: this.#tree }, this.#tree.root.name)
  }

  /** What an agent's model is shown. */
  history(agentName: string, scope: ScopePath, which?: 'default' | 'none'): Content[] {
    return this.#historyOf(agentName, scope).upTo(this.events, which)
  }

  /** Where the last message of the user stands in what `history` gave, or one that many messages before it. */
  turnStart(agentName: string, scope: ScopePath, which: 'default' | 'none' | undefined, earlier: number): number {
    return this.#historyOf(agentName, scope).turnStart(which, earlier)
  }

  #historyOf(agentName: string, scope: ScopePath): History {
    let history = this.#histories.find((one) => one.belongsTo(agentName, scope))
    if (!history) {
      const from = scope.isolation === undefined ? 0 : (this.#isolated?.get(scope.isolation) ?? this.events.length)
      history = new History(agentName, scope, this.#hasRepeats, from)
      this.#histories = [...this.#histories, history]
    }
    return history
  }

  #retire(): void {
    const fold = this.#latest
    if (!fold) return
    this.#latest = undefined
    this.#rememberIds(fold)
    const target = fold.scopes.get(this.#tree.root.name)?.active
    if (target !== undefined && this.#tree.find(target) instanceof LlmAgent) this.#sticky = target
    const ended = new Evaluated(fold)
    if (!isEmpty(fold) && this.#evaluate(ended).step.type !== 'done') {
      this.#open = withInvocation(this.#open, ended)
      if (!ended.isDormant) this.#awake = withInvocation(this.#awake, ended)
    }
    // an agent tool's history ends with its invocation; a resumed invocation builds it again
    this.#histories = this.#histories.filter((one) => !one.isIsolated)
  }
}

/** An unfinished invocation and its next step. */
export interface OpenInvocation {
  readonly fold: Fold
  readonly step: Next
}

/** A fold with what was found out about it; it is looked at again when it has changed. */
class Evaluated implements OpenInvocation {
  readonly fold: Fold
  version = -1
  step: Next = { type: 'done' }
  /** It waits for results of long-running calls, and for nothing else. */
  isDormant = false
  constructor(fold: Fold) {
    this.fold = fold
  }
}

const NONE: readonly OpenInvocation[] = []

function withInvocation(all: Map<string, Evaluated>, one: Evaluated): Map<string, Evaluated> {
  const own = all === NO_INVOCATIONS ? new Map<string, Evaluated>() : all
  return own.set(one.fold.invocationId, one)
}

function onlyLongRunning(step: Next): boolean {
  return step.type === 'wait' && step.on.every(({ pending }) => pending)
}

/** Someone changed state from outside: no invocation. */
function isStateEdit(event: Event): boolean {
  return event.author === 'user' && !event.content
}

function isEmpty({ userEvent, scopes }: Fold): boolean {
  return !userEvent && scopes.size === 0
}

registerShape(() => new SessionView({} as AgentTree))
