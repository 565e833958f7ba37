// Finds violations after many kills by comparing the logs with what the payment server has seen.
import type { Event, FunctionResponse } from 'toolwright'
import type { Entry } from 'toolwright/store'
import type { StepReport } from './step-report.ts'

/** What remains after the kills. */
export interface Evidence {
  /** The whole log of each session. */
  readonly logs: ReadonlyMap<string, readonly Entry[]>
  /** All reports to the payment server, in order. */
  readonly reports: readonly StepReport[]
}

/** Tools whose effect must not happen twice. */
const atMostOnceTools = ['atMostOnce', 'approved']

/** Returns one line for each violation. */
export function audit({ logs, reports }: Evidence): string[] {
  const problems: string[] = []
  const calls = new Map<string, Call>()
  for (const [sessionId, entries] of logs) {
    entries.forEach(({ seq }, at) => {
      if (seq !== at + 1) problems.push(`${sessionId}: entry ${at + 1} has the sequence number ${seq}`)
    })
    problems.push(...findLostEvents(sessionId, entries, reports), ...findUnfinishedInvocations(sessionId, entries))
    for (const call of listCalls(entries)) calls.set(call.key, call)
  }
  const violations = [...calls.values()].flatMap((call) => findCallViolations(call, reports))
  return [...problems, ...violations, ...findUnloggedEffects(calls, reports)]
}

interface Call {
  /** The idempotency key: invocation id and call id. */
  readonly key: string
  readonly name: string
  readonly responses: readonly FunctionResponse[]
  readonly isApproved: boolean
}

/** Finds events that were yielded but are not in the log, or were yielded in another order. */
function findLostEvents(sessionId: string, entries: readonly Entry[], reports: readonly StepReport[]): string[] {
  const seqById = new Map(entries.flatMap(({ seq, event }) => (event ? [[event.id, seq] as const] : [])))
  const problems: string[] = []
  let last = 0
  for (const { yieldedEvent } of reports) {
    if (yieldedEvent?.sessionId !== sessionId) continue
    const seq = seqById.get(yieldedEvent.id)
    if (seq === undefined) problems.push(`${sessionId}: event ${yieldedEvent.id} was yielded and is not in the log`)
    else if (seq <= last) problems.push(`${sessionId}: event ${yieldedEvent.id} was yielded after a later one`)
    last = seq ?? last
  }
  return problems
}

function findUnfinishedInvocations(sessionId: string, entries: readonly Entry[]): string[] {
  const last = new Map<string, Event>()
  for (const { event } of entries) if (event) last.set(event.invocationId, event)
  return [...last]
    .filter(([, { content }]) => content?.parts[0]?.text !== 'done')
    .map(([invocationId]) => `${sessionId}: ${invocationId} did not complete`)
}

function listCalls(entries: readonly Entry[]): Call[] {
  const events = entries.flatMap(({ event }) => event ?? [])
  const answers = events.filter(({ author }) => author === 'user').flatMap(responsesOf)
  const approvedRequests = new Set(answers.filter(({ response }) => response.confirmed === true).map(({ id }) => id))
  const approved = new Set(
    entries.flatMap(({ record }) =>
      record?.type === 'request' && approvedRequests.has(record.id) ? [`${record.invocationId}/${record.callId}`] : [],
    ),
  )
  const agentEvents = events.filter(({ author }) => author !== 'user')
  return agentEvents.flatMap(({ invocationId, content }) =>
    (content?.parts ?? []).flatMap(({ functionCall: call }) => {
      if (!call || call.name.startsWith('adk_request_')) return []
      const key = `${invocationId}/${call.id}`
      const own = agentEvents.filter((event) => event.invocationId === invocationId).flatMap(responsesOf)
      const responses = own.filter(({ id }) => id === call.id)
      return [{ key, name: call.name, responses, isApproved: approved.has(key) }]
    }),
  )
}

function responsesOf({ content }: Event): FunctionResponse[] {
  return content?.parts.flatMap(({ functionResponse }) => functionResponse ?? []) ?? []
}

function findCallViolations({ key, name, responses, isApproved }: Call, reports: readonly StepReport[]): string[] {
  const problems: string[] = []
  const attempts = reports.filter((report) => report.step === `effect ${name}` && report.key === key).length
  if (responses.length !== 1) problems.push(`${key} (${name}) has ${responses.length} responses`)
  if (atMostOnceTools.includes(name) && attempts > 1) problems.push(`${key} (${name}) took effect ${attempts} times`)
  const isPaid = responses[0]?.response.paid !== undefined
  if (isPaid && attempts === 0) problems.push(`${key} (${name}) has a success response, but took no effect`)
  if (!isPaid && responses[0]?.response.errorCode !== 'UNKNOWN_OUTCOME')
    problems.push(`${key} (${name}) was answered with ${JSON.stringify(responses[0]?.response)}`)
  if (name === 'approved' && attempts > 0 && !isApproved) problems.push(`${key} took effect without an approval`)
  return problems
}

/** Finds effects of calls that are not in the log. */
function findUnloggedEffects(calls: ReadonlyMap<string, Call>, reports: readonly StepReport[]): string[] {
  return reports
    .filter(({ step, key = '' }) => step.startsWith('effect ') && !calls.has(key))
    .map(({ key }) => `${key} took effect and is not in the log`)
}
