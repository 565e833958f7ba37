// A session's log as a run uses it: folded per invocation, with the histories models see. Rebuilt when absent.
import { keepShape } from '../base/keep-shape.ts'
import type { Content } from '../content/content.ts'
import type { Entry, Event, NewEntry } from '../event/event.ts'
import { Fold } from '../event/fold.ts'
import type { Scope } from '../event/scope.ts'
import { History } from './history.ts'
import { LlmAgent } from './llm-agent.ts'
import { type Next, next } from './next.ts'
import { isSendable } from './shown-calls.ts'
import type { AgentTree } from './tree.ts'

export class SessionView {
  readonly events: Event[] = []
  readonly #tree: AgentTree
  #histories: History[] = []
  /** Earlier invocations that are not at their end. */
  #open: Fold[] = []
  #latest: Fold | undefined
  #sticky: string | undefined
  #seq = 0
  /** Ids that calls and requests of earlier invocations had. */
  #earlierIds: Set<string> | undefined
  /** Some id is there twice, or missing, or cannot be sent: not by us. */
  #hasRepeats = false
  /** Somebody was waited for, at some time. */
  hasWaited = false
  /** Taking in an entry failed: the view must not be used again. */
  isHalfRead = false

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
    for (; at < entries.length; at++) {
      const entry = entries[at] as Entry
      this.isHalfRead = true
      if (entry.event?.turnComplete) this.#checkIds(entry.event) // somebody else may have written it
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
      this.events.push(entry.event)
      if (!entry.event.turnComplete) this.#checkIds(entry.event) // a model's reply has ids that we gave or looked at
      if (isStateEdit(entry.event)) return
    }
    if (entry.record?.type === 'request' || entry.event?.longRunningToolIds) this.hasWaited = true
    this.foldOf((entry.event ?? entry.record).invocationId).add(entry, seq)
  }

  /** The fold of an invocation; a new one begins where the latest transfer left control. */
  foldOf(invocationId: string): Fold {
    if (this.#latest?.invocationId === invocationId) return this.#latest
    const known = this.#open.find((fold) => fold.invocationId === invocationId)
    if (known) return known
    this.#retire()
    this.#latest = new Fold(invocationId, this.#sticky)
    return this.#latest
  }

  /** Invocations that are not at their end, and what each would do next. */
  open(): { fold: Fold; step: Next }[] {
    if (!this.#latest && this.#open.length === 0) return []
    const folds = this.#latest ? [...this.#open, this.#latest] : this.#open
    const begun = folds.filter((fold) => !isEmpty(fold)) // a run that failed before it recorded anything left none
    return begun.map((fold) => ({ fold, step: this.stepOf(fold) })).filter(({ step }) => step.type !== 'done')
  }

  /** Are there unfinished invocations beside this one? */
  hasOthers(fold: Fold): boolean {
    return this.#open.some((one) => one !== fold) || (this.#latest !== undefined && this.#latest !== fold)
  }

  /** Does a call or a request of this session have this id? */
  hasId(id: string): boolean {
    if (this.#latest?.hasId(id) || this.#earlierIds?.has(id)) return true
    return this.#open.length > 0 && this.#open.some((fold) => fold.hasId(id))
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
    for (const { id, requests } of calls.all()) {
      this.#remember(id)
      for (const { request } of requests) this.#remember(request.id)
    }
  }

  /** An invocation has ended: nothing needs its fold any more. */
  close(fold: Fold): void {
    if (this.#open.length === 0) return
    if (this.#open.includes(fold)) this.#rememberIds(fold)
    this.#open = this.#open.filter((one) => one !== fold)
  }

  stepOf(fold: Fold): Next {
    return next(this.#tree.root, { fold, tree: this.#tree }, this.#tree.root.name)
  }

  /** What an agent's model is shown. */
  history(agentName: string, scope: Scope, which?: 'default' | 'none'): Content[] {
    let history = this.#histories.find((one) => one.isOf(agentName, scope))
    if (!history) {
      history = new History(agentName, scope, this.#hasRepeats)
      this.#histories = [...this.#histories, history]
    }
    return history.upTo(this.events, which)
  }

  #retire(): void {
    const fold = this.#latest
    if (!fold) return
    this.#latest = undefined
    this.#rememberIds(fold)
    const target = fold.scopes.get(this.#tree.root.name)?.active
    if (target !== undefined && this.#tree.find(target) instanceof LlmAgent) this.#sticky = target
    if (!isEmpty(fold) && this.stepOf(fold).type !== 'done') this.#open.push(fold)
    // an agent tool's history ends with its invocation, unless somebody still waits in it
    if (this.#open.length === 0) this.#histories = this.#histories.filter((one) => !one.isIsolated)
  }
}

/** Someone changed state from outside: no invocation. */
function isStateEdit(event: Event): boolean {
  return event.author === 'user' && !event.content
}

function isEmpty({ userEvent, scopes }: Fold): boolean {
  return !userEvent && scopes.size === 0
}

keepShape(() => new SessionView({} as AgentTree))
