// Reads what is left after many kills, and says what cannot be right: from the log and from what the world has seen.
import type { Entry, Event, FunctionResponse } from 'toolwright'
import type { Visit } from './outside.ts'

export interface Evidence {
  /** The whole log of each session. */
  readonly logs: ReadonlyMap<string, readonly Entry[]>
  /** Everything that reached the outside world, in order. */
  readonly visits: readonly Visit[]
}

/** Tools whose effect may happen once at most. */
const onceAtMost = ['atMostOnce', 'approved']

export function audit({ logs, visits }: Evidence): string[] {
  const problems: string[] = []
  const calls = new Map<string, Call>()
  for (const [sessionId, entries] of logs) {
    entries.forEach(({ seq }, at) => {
      if (seq !== at + 1) problems.push(`${sessionId}: entry ${at + 1} has the number ${seq}`)
    })
    problems.push(...lost(sessionId, entries, visits), ...unfinished(sessionId, entries))
    for (const call of callsIn(entries)) calls.set(call.key, call)
  }
  return [...problems, ...[...calls.values()].flatMap((call) => wrongWith(call, visits)), ...uncalled(calls, visits)]
}

interface Call {
  /** The idempotency key: invocation and call. */
  readonly key: string
  readonly name: string
  readonly responses: readonly FunctionResponse[]
  readonly isApproved: boolean
}

/** Events that were shown and are not stored, or in another order. */
function lost(sessionId: string, entries: readonly Entry[], visits: readonly Visit[]): string[] {
  const places = new Map(entries.flatMap(({ seq, event }) => (event ? [[event.id, seq] as const] : [])))
  const problems: string[] = []
  let last = 0
  for (const { shown } of visits) {
    if (shown?.sessionId !== sessionId) continue
    const seq = places.get(shown.id)
    if (seq === undefined) problems.push(`${sessionId}: event ${shown.id} was shown and is not in the log`)
    else if (seq <= last) problems.push(`${sessionId}: event ${shown.id} was shown after a later one`)
    last = seq ?? last
  }
  return problems
}

function unfinished(sessionId: string, entries: readonly Entry[]): string[] {
  const last = new Map<string, Event>()
  for (const { event } of entries) if (event) last.set(event.invocationId, event)
  return [...last]
    .filter(([, { content }]) => content?.parts[0]?.text !== 'done')
    .map(([invocationId]) => `${sessionId}: ${invocationId} did not come to its end`)
}

function callsIn(entries: readonly Entry[]): Call[] {
  const events = entries.flatMap(({ event }) => event ?? [])
  const answers = events.filter(({ author }) => author === 'user').flatMap(responsesOf)
  const yes = new Set(answers.filter(({ response }) => response.confirmed === true).map(({ id }) => id))
  const approved = new Set(
    entries.flatMap(({ record }) =>
      record?.type === 'request' && yes.has(record.id) ? [`${record.invocationId}/${record.callId}`] : [],
    ),
  )
  const given = events.filter(({ author }) => author !== 'user')
  return given.flatMap(({ invocationId, content }) =>
    (content?.parts ?? []).flatMap(({ functionCall: call }) => {
      if (!call || call.name.startsWith('adk_request_')) return []
      const key = `${invocationId}/${call.id}`
      const own = given.filter((event) => event.invocationId === invocationId).flatMap(responsesOf)
      const responses = own.filter(({ id }) => id === call.id)
      return [{ key, name: call.name, responses, isApproved: approved.has(key) }]
    }),
  )
}

function responsesOf({ content }: Event): FunctionResponse[] {
  return content?.parts.flatMap(({ functionResponse }) => functionResponse ?? []) ?? []
}

function wrongWith({ key, name, responses, isApproved }: Call, visits: readonly Visit[]): string[] {
  const problems: string[] = []
  const tries = visits.filter((visit) => visit.point === `effect ${name}` && visit.key === key).length
  if (responses.length !== 1) problems.push(`${key} (${name}) has ${responses.length} responses`)
  if (onceAtMost.includes(name) && tries > 1) problems.push(`${key} (${name}) took effect ${tries} times`)
  const isPaid = responses[0]?.response.paid !== undefined
  if (isPaid && tries === 0) problems.push(`${key} (${name}) says that it took effect, and it did not`)
  if (!isPaid && responses[0]?.response.errorCode !== 'UNKNOWN_OUTCOME')
    problems.push(`${key} (${name}) was answered with ${JSON.stringify(responses[0]?.response)}`)
  if (name === 'approved' && tries > 0 && !isApproved) problems.push(`${key} took effect and nobody had approved it`)
  return problems
}

/** Effects of calls the log does not know. */
function uncalled(calls: ReadonlyMap<string, Call>, visits: readonly Visit[]): string[] {
  return visits
    .filter(({ point, key = '' }) => point.startsWith('effect ') && !calls.has(key))
    .map(({ key }) => `${key} took effect and is not in the log`)
}
