// Compares the views that the product reads from each log with what the auditor reads from it by itself.
import { type CallView, readLog } from 'toolwright'
import { type AuditedCall, type AuditedLog, canonical, decisionIn, finalOf, isError, readLogs } from './audit/log.ts'
import type { Violation } from './audit/violation.ts'
import type { Evidence } from './evidence.ts'

/** Everything in which the views differ from the logs. */
export function compareViews(evidence: Evidence): Violation[] {
  return readLogs(evidence).flatMap((log) =>
    [...differencesIn(log)].map((says): Violation => ({ promise: 'views', says })),
  )
}

function* differencesIn({ session, evidence, calls, doubled }: AuditedLog): Iterable<string> {
  const views = readLog(evidence.entries)
  const isDoubled = new Set(doubled)
  for (const call of calls.values()) {
    if (isDoubled.has(call.key)) continue
    const view = views.invocation(call.invocationId)?.calls.find(({ id }) => id === call.id)
    const difference = view ? differenceOf(call, view) : 'it has no view'
    if (difference !== undefined) yield `${session}: call ${call.key}: ${difference}`
  }
  const known = new Set(Array.from(calls.values(), ({ id }) => id))
  for (const { id, kind } of views.calls())
    if (kind !== 'toolset' && !known.has(id)) yield `${session}: the view of call ${id} belongs to no call`
  for (const { id, status, calls } of views.invocations()) {
    const isWaiting = calls.some((call) => call.status === 'waiting')
    if (isWaiting !== (status === 'waiting')) yield `${session}: invocation ${id} is ${status}, its calls are not`
  }
}

function differenceOf(call: AuditedCall, view: CallView): string | undefined {
  const { intents, asked } = call
  const final = finalOf(call)
  if (view.name !== call.name && !call.isCode) return `its name is ${view.name}`
  if (view.starts !== intents.length) return `it has ${intents.length} intents, and ${view.starts} starts`
  if (!call.isCode && canonical(view.args) !== canonical(call.args)) return 'it has other arguments'
  if ((view.response !== undefined) !== (final !== undefined)) return `it is ${view.status}`
  if (final && !call.isCode && canonical(view.response?.response) !== canonical(final.response))
    return 'it has another response'
  const hasFailed = ['failed', 'denied', 'cancelled', 'unknown'].includes(view.status)
  if (final && !call.isCode && isError(final.response) !== hasFailed) return `its result is ${view.status}`
  if (view.requests.length !== asked.length) return `it has ${asked.length} requests, and ${view.requests.length} views`
  for (const [at, { request, answer, denied }] of asked.entries()) {
    const meaning = view.requests[at]?.answer?.type
    if ((answer !== undefined || denied !== undefined) !== (meaning !== undefined))
      return `request ${request.id} is ${meaning ?? 'open'}`
    if (request.kind !== 'confirmation' || !answer || denied !== undefined) continue
    if ((decisionIn(answer.response).confirmed === true) !== (meaning === 'approved'))
      return `request ${request.id} is ${meaning}`
  }
  return undefined
}
