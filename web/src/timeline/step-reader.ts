import { isRecord, type JsonObject } from '../../../src/base/json.ts'
import { type Content, type FunctionCall, type FunctionResponse, textOf } from '../../../src/content/content.ts'
import { callTimeOf } from '../../../src/event/call-time.ts'
import { codeCallOf, EXECUTE_CODE } from '../../../src/event/code-call.ts'
import type { Denial, Event, FailedAttempt, LogRecord, Request } from '../../../src/event/event.ts'
import { failedAttemptsOf } from '../../../src/event/failed-attempts.ts'
import { describeAnswer, isGranted, readAnswer } from '../../../src/event/read-answer.ts'
import { TOOLSET_CALL_PREFIX, toolsetNameOf } from '../../../src/event/request-names.ts'
import { ReadyTimes } from './ready-times.ts'
import type { Mark, Step, StepStatus, Wait } from './timeline.ts'

/** Reads the steps of one invocation from its entries, in their order. */
export class StepReader {
  /** Messages, answers, transfers and errors, in order. */
  readonly marks: Mark[] = []
  readonly #steps: OpenStep[] = []
  readonly #calls: Map<string, OpenStep> = new Map()
  readonly #requests: Map<string, { request: Request; step: OpenStep }> = new Map()
  readonly #ready: ReadyTimes = new ReadyTimes()
  /** The last call of each tool by each agent, which a further call may repeat. */
  readonly #lastCalls: Map<string, OpenStep> = new Map()

  /** Is a call without a response, or is nothing recorded after the last message or response? */
  get isOpen(): boolean {
    return this.#steps.some(({ to }) => to === undefined) || this.#isUnanswered
  }

  /** Does a call wait for a person or an outside result? */
  get isWaiting(): boolean {
    return this.#steps.some(({ waits }) => waits.some(({ to }) => to === undefined))
  }

  /** True after a message or a response, until a reply is recorded. */
  #isUnanswered = false
  #nextFrom = 0

  /** Adds a record. */
  addRecord(record: LogRecord): void {
    if (record.type === 'request') this.#addRequest(record)
    if (record.type === 'denial') this.#addDenial(record)
    if (record.type !== 'intent') return
    for (const { id, args } of record.calls) {
      const step = this.#calls.get(id)
      if (!step) continue
      if (step.hasIntent) step.attempt++ // the attempt before it was interrupted
      step.hasIntent = true
      if (args) step.args = args
    }
  }

  /** Adds an event. */
  addEvent(event: Event): void {
    const { content, author, actions } = event
    const at = event.timestamp * 1000
    for (const response of responsesIn(content)) this.#addResponse(response, event)
    if (author === 'user') this.#addMessage(event)
    else if (content?.role === 'model' || event.errorCode !== undefined) this.#addReply(event)
    if (actions.transferToAgent)
      this.marks.push({ kind: 'transfer', at, label: `Transfer to ${actions.transferToAgent}`, eventId: event.id })
    this.#ready.add(event)
    this.#nextFrom = at
  }

  /** The steps by the time they began. Open ones last until `end`. */
  finish({ end, isRunning }: { readonly end: number; readonly isRunning: boolean }): readonly Step[] {
    if (isRunning && this.#isUnanswered && this.#steps.every(({ to }) => to !== undefined)) this.#addNextReply()
    return this.#steps
      .map((step) => closed(step, end, isRunning))
      .sort((one, other) => one.from - other.from || one.to - other.to)
  }

  /** The model call of a run under way. It has no event yet. */
  #addNextReply(): void {
    const last = this.#steps.findLast(({ kind }) => kind !== 'tool')
    const { agent = 'agent', path = 'agent' } = last ?? {}
    const id = `next-${this.#steps.length}`
    this.#steps.push({
      ...EMPTY,
      id,
      kind: 'model',
      name: 'Model call',
      agent,
      path,
      eventId: '',
      from: this.#nextFrom,
    })
  }

  #addRequest(request: Request): void {
    const { callId, id, kind, origin, createdAt, path, hint } = request
    const from = createdAt * 1000
    let step = this.#calls.get(callId)
    if (!step && callId.startsWith(TOOLSET_CALL_PREFIX)) {
      const name = `Sign-in for ${toolsetNameOf(callId, path)}`
      step = { ...EMPTY, id: callId, kind: 'tool', name, agent: agentOf(path), path, eventId: '', from, args: { hint } }
      this.#steps.push(step)
      this.#calls.set(callId, step)
    }
    if (!step) return
    step.hasIntent = false
    // a gate asks before the body: the call has not worked since it was made, or since the answer to the gate before
    const isGate = origin === 'gate'
    step.waits = [...step.waits, { kind, from: isGate ? (step.waits.at(-1)?.to ?? step.from) : from }]
    if (isGate) step.gate = 'held'
    this.#requests.set(id, { request, step })
  }

  /** A request that expired. Its call is answered later, without running. */
  #addDenial({ requestId }: Denial): void {
    const step = this.#requests.get(requestId)?.step
    if (step?.gate === 'held') step.gate = 'denied'
  }

  #addMessage({ id: eventId, content, timestamp }: Event): void {
    const text = textOf(content)
    const label = text === '' ? 'Message' : text
    const isMessage = responsesIn(content).length === 0 && (content?.parts.length ?? 0) > 0
    if (isMessage) this.marks.push({ kind: 'message', at: timestamp * 1000, label, eventId })
    if (content) this.#isUnanswered = true
  }

  #addResponse(response: FunctionResponse, event: Event): void {
    const at = event.timestamp * 1000
    const { id = '', willContinue } = response
    const asked = this.#requests.get(id) ?? this.#openRequestOf(id, event)
    if (asked) {
      this.#addAnswer(asked, response.response, event)
      return
    }
    const step = this.#calls.get(id)
    if (!step || step.to !== undefined) return
    if (willContinue) {
      const isWaiting = step.waits.some(({ to }) => to === undefined)
      if (!isWaiting) step.waits = [...step.waits, { kind: 'longRunning', from: at }]
      return
    }
    if (event.author === 'user') this.#markAnswer(step, 'answered', event)
    closeWaits(step, at, event.author === 'user' ? 'answered' : undefined)
    const { startedAt, endedAt } = callTimeOf(event, id)
    if (startedAt !== undefined && step.waits.length === 0) step.from = startedAt * 1000
    const to = Math.max(endedAt * 1000, step.from)
    if (step.gate !== 'passed') extendLastWait(step, to)
    const error = errorIn(response.response)
    Object.assign(step, { to, result: response.response, responseId: event.id, error })
    step.failedAttempts = failedAttemptsOf(event, id)
    step.attempt += retriesOf(step.failedAttempts, error === undefined)
    this.#isUnanswered = true
  }

  /** A client may answer with the id of the call, as long as the call has one request. */
  #openRequestOf(callId: string, event: Event): { request: Request; step: OpenStep } | undefined {
    if (event.author !== 'user') return undefined
    return [...this.#requests.values()].find(({ request, step }) => request.callId === callId && step.to === undefined)
  }

  #addAnswer({ request, step }: { request: Request; step: OpenStep }, answer: JsonObject, event: Event): void {
    const meaning = readAnswer(request.kind, answer)
    const text = describeAnswer(meaning)
    this.#markAnswer(step, text, event)
    closeWaits(step, event.timestamp * 1000, text)
    if (step.gate === 'held') step.gate = isGranted(meaning) ? 'passed' : 'denied'
    if (!request.callId.startsWith(TOOLSET_CALL_PREFIX)) return
    Object.assign(step, { to: event.timestamp * 1000, result: answer, responseId: event.id })
  }

  #markAnswer(step: OpenStep, text: string, { id: eventId, timestamp }: Event): void {
    const at = timestamp * 1000
    this.marks.push({ kind: 'answer', at, label: `${step.name}: ${text}`, eventId })
    this.#ready.addAt(step.path, at)
  }

  #addReply(event: Event): void {
    const { id, content, author, nodeInfo, errorCode, errorMessage, timestamp, usageMetadata, fallback } = event
    const calls = callsIn(content).filter((call) => !this.#requests.has(call.id ?? ''))
    const isRequest = callsIn(content).length > calls.length
    if (isRequest && calls.length === 0) return
    this.#isUnanswered = false
    const to = timestamp * 1000
    const error = errorCode === undefined ? undefined : `${errorCode}: ${errorMessage ?? ''}`
    if (error !== undefined && errorCode !== 'MODEL_ERROR' && !content) {
      this.marks.push({ kind: 'error', at: to, label: error, eventId: id })
      return
    }
    const isModel = event.turnComplete === true || usageMetadata !== undefined || errorCode === 'MODEL_ERROR'
    this.#steps.push({
      ...EMPTY,
      id,
      kind: isModel ? 'model' : 'agent',
      name: isModel ? 'Model call' : 'Agent step',
      agent: author,
      path: nodeInfo?.path ?? author,
      eventId: id,
      from: Math.min(this.#ready.before(event), to),
      to,
      usage: usageMetadata,
      failedModels: fallback?.from,
      result: textOf(content),
      error,
    })
    for (const call of calls) this.#addCall(call, event)
  }

  #addCall({ id, name, args }: FunctionCall, { id: eventId, author: agent, nodeInfo, timestamp }: Event): void {
    if (id === undefined || this.#calls.has(id)) return
    const path = nodeInfo?.path ?? agent
    const before = this.#lastCalls.get(`${path} ${name}`)
    const attempt = before?.error === undefined ? 1 : before.attempt + 1
    const step = {
      ...EMPTY,
      id,
      kind: 'tool' as const,
      name,
      agent,
      path,
      eventId,
      from: timestamp * 1000,
      args,
      attempt,
    }
    this.#steps.push(step)
    this.#calls.set(id, step)
    this.#lastCalls.set(`${path} ${name}`, step)
  }
}

type OpenWait = Omit<Wait, 'to'> & { readonly to?: number }

/** A step while it is read. Without `to` it is open. */
type OpenStep = { -readonly [Key in keyof Omit<Step, 'to' | 'waits' | 'status'>]: Step[Key] } & {
  to?: number
  waits: readonly OpenWait[]
  hasIntent: boolean
}

/** How often a policy ran the body again. */
function retriesOf(failed: readonly FailedAttempt[], hasSucceeded: boolean): number {
  const last = failed.at(-1)
  return last ? last.attempt - (hasSucceeded ? 0 : 1) : 0
}

const EMPTY = { waits: [], attempt: 1, hasIntent: false, gate: 'passed' as const }

function closeWaits(step: OpenStep, at: number, answer: string | undefined): void {
  step.waits = step.waits.map((wait) => (wait.to === undefined ? { ...wait, to: at, answer } : wait))
}

/** The time between a denial and the response to its call is no work. */
function extendLastWait(step: OpenStep, to: number): void {
  step.waits = step.waits.map((wait, at) => (at === step.waits.length - 1 ? { ...wait, to } : wait))
}

function closed({ hasIntent: _, ...step }: OpenStep, end: number, isRunning: boolean): Step {
  const waits = step.waits.map((wait) => ({ ...wait, to: wait.to ?? end }))
  return { ...step, to: step.to ?? end, waits, status: statusOf(step, isRunning) }
}

function statusOf({ to, error, waits }: Omit<OpenStep, 'hasIntent'>, isRunning: boolean): StepStatus {
  if (to !== undefined) return error === undefined ? 'done' : 'failed'
  if (waits.some((wait) => wait.to === undefined)) return 'waiting'
  return isRunning ? 'running' : 'interrupted'
}

function callsIn(content: Content | undefined): readonly FunctionCall[] {
  const parts = content?.parts ?? []
  return parts.flatMap((part, at) => part.functionCall ?? codeCallOf(parts, at) ?? [])
}

function responsesIn(content: Content | undefined): readonly FunctionResponse[] {
  return (content?.parts ?? []).flatMap(({ functionResponse, codeExecutionResult: result }) => {
    if (functionResponse) return functionResponse
    if (result?.id === undefined) return []
    const { id, outcome, output = '' } = result
    const response = outcome === 'OUTCOME_OK' ? { output } : { error: output, outcome }
    return { id, name: EXECUTE_CODE, response }
  })
}

function errorIn(response: unknown): string | undefined {
  if (!isRecord(response)) return undefined
  const { error, errorCode } = response
  if (typeof error === 'string') return error
  return typeof errorCode === 'string' ? errorCode : undefined
}

/** The agent of a scope path: the name in its last part. */
function agentOf(path: string): string {
  return (path.split('/').at(-1) ?? path).replace(/@.*$/, '')
}
