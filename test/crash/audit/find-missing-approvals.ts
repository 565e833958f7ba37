import { gatedTools } from '../tool-names.ts'
import { callsOf, type Evidence, entriesOf, type LoggedCall, responsesIn } from './evidence.ts'

/** Gated calls that ran without an approval: in the log before the intent, and sent by the caller before the body. */
export function findMissingApprovals(evidence: Evidence): string[] {
  return callsOf(evidence)
    .filter(({ call }) => gatedTools.includes(call.name))
    .flatMap((call) => [...findInLog(call, evidence), ...findInLedger(call, evidence)])
}

function findInLog(call: LoggedCall, evidence: Evidence): string[] {
  if (call.intentSeq === undefined) return []
  const requests = requestsFor(call, evidence)
  const approval = entriesOf(evidence).find(
    ({ event }) =>
      event?.author === 'user' &&
      responsesIn(event).some(({ id, response }) => requests.has(String(id)) && response.confirmed === true),
  )
  if (approval && approval.seq < call.intentSeq) return []
  return [`${call.call.name} has an intent without an approval before it.`]
}

function findInLedger(call: LoggedCall, evidence: Evidence): string[] {
  const { lines } = evidence
  const requests = requestsFor(call, evidence)
  const ran = lines.findIndex((line) => line.type === 'body' && line.key === call.key)
  const answered = lines.findIndex((line) => line.type === 'answered' && requests.has(line.requestId))
  return ran < 0 || (answered >= 0 && answered < ran) ? [] : [`${call.call.name} ran before its caller approved it.`]
}

function requestsFor({ key }: LoggedCall, evidence: Evidence): ReadonlySet<string> {
  const records = entriesOf(evidence).flatMap(({ record }) => (record?.type === 'request' ? [record] : []))
  return new Set(records.filter((one) => `${one.invocationId}/${one.callId}` === key).map(({ id }) => id))
}
