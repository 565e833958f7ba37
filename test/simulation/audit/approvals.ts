// P5: what needs a yes runs on a yes to that very call with those very arguments, and on nothing else.
import { type Evidence, type LedgerEntry, markIn, type SentAnswer } from '../evidence.ts'
import { needsYes, type ToolSpec } from '../plan.ts'
import { type Asked, type AuditedCall, type AuditedLog, canonical, decisionIn, finalOf } from './log.ts'
import type { Violation } from './violation.ts'

export function* approvals({ ledger, plan, answers }: Evidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  for (const entry of ledger) {
    const spec = plan.tools.find(({ name }) => name === entry.tool)
    const log = logs.find(({ session }) => session === entry.session)
    const call = log?.calls.get(entry.key)
    if (!spec || !log || !call || !needsYesHere(spec, call, entry)) continue
    const problem = whyNot(log, call, spec, entry, answers)
    if (problem)
      yield { promise: 'P5', says: `${entry.session}: ${entry.tool} (${entry.key}) ${entry.step}: ${problem}` }
  }
  for (const log of logs) {
    for (const call of log.calls.values()) {
      yield* askedOnce(log, call)
      yield* editedAsItMayBe(
        log,
        call,
        plan.tools.find(({ name }) => name === call.name),
      )
      yield* askedAboutWhatWasCalled(log, call, plan.tools.find(({ name }) => name === call.name)?.editable === true)
    }
  }
}

/** A body that asks for itself may begin without a yes, and go no further. */
function needsYesHere(spec: ToolSpec, call: AuditedCall, { step, args }: LedgerEntry): boolean {
  if (step === 'reconciled' || step === 'cancelled' || step === 'stopped') return false
  if (spec.gate === 'body') return step !== 'began'
  return needsYes(spec, args) || call.asked.some(({ request }) => request.kind === 'confirmation')
}

function whyNot(
  log: AuditedLog,
  call: AuditedCall,
  { editable }: ToolSpec,
  { tick, args }: LedgerEntry,
  answers: readonly SentAnswer[],
): string | undefined {
  const isBefore = (seq: number): boolean => (log.stored(seq)?.tick ?? Number.POSITIVE_INFINITY) < tick
  const final = finalOf(call)
  const intent = call.intents.findLast(({ seq }) => isBefore(seq))
  if (final && intent && final.seq < intent.seq) return 'the call had its response: the yes was used up'
  const asked = call.asked.filter(({ seq, request }) => request.kind === 'confirmation' && isBefore(seq)).at(-1)
  if (!asked) return 'nobody was asked'
  if (asked.denied !== undefined && isBefore(asked.denied)) return 'it had expired'
  if (!asked.answer || !isBefore(asked.answer.seq)) return 'nobody had answered'
  const yes = yesesTo(asked, log, answers, tick)
  if (yes.length === 0) return 'nobody who may had said yes'
  // an approval with other arguments is none of those that were shown
  const approved = yes.flatMap((one) => (one.args === undefined ? [asked.request.args] : editable ? [one.args] : []))
  return approved.some((one) => canonical(one) === canonical(args)) ? undefined : 'other arguments had been approved'
}

/** What the owner of the session sent, before. */
function yesesTo(
  { request, answer }: Asked,
  log: AuditedLog,
  answers: readonly SentAnswer[],
  tick: number,
): SentAnswer[] {
  const { userId, sessionId } = log.evidence
  return answers.filter(
    (one) =>
      (one.guess
        ? one.guess.callId === request.callId && one.guess.mark === markIn(answer?.response)
        : one.requestId === request.id) &&
      one.means === 'yes' &&
      one.userId === userId &&
      one.sessionId === sessionId &&
      one.tick < tick,
  )
}

/** No approval is recorded whose arguments nobody could run, or that the tool does not take. */
function* editedAsItMayBe(
  { session }: AuditedLog,
  { asked, name, key }: AuditedCall,
  spec: ToolSpec | undefined,
): Iterable<Violation> {
  for (const { request, answer } of asked) {
    const decision = request.kind === 'confirmation' && answer ? decisionIn(answer.response) : {}
    if (decision.confirmed !== true || !Object.hasOwn(decision, 'args')) continue
    const { args } = decision
    const isFit = typeof args === 'object' && args !== null && typeof (args as { n?: unknown }).n === 'number'
    if (!isFit || !spec?.editable)
      yield {
        promise: 'P5',
        says: `${session}: ${name} (${key}) is approved with ${canonical(args)} for its arguments`,
      }
  }
}

/** The same question twice would make two approvals of one. */
function* askedOnce({ session }: AuditedLog, { asked, name, key }: AuditedCall): Iterable<Violation> {
  const seen = new Set<string>()
  for (const { request } of asked) {
    const { kind, origin, key: which, args, definition } = request
    const question = canonical({ kind, origin, which, args, definition })
    if (seen.has(question))
      yield { promise: 'P5', says: `${session}: ${name} (${key}) is asked about twice in the same words` }
    seen.add(question)
  }
}

/** Nobody is asked about arguments that neither the model nor an approver who may has written. */
function* askedAboutWhatWasCalled({ session }: AuditedLog, call: AuditedCall, editable: boolean): Iterable<Violation> {
  if (editable) return
  for (const { request } of call.asked) {
    if (canonical(request.args) !== canonical(call.args))
      yield {
        promise: 'P5',
        says: `${session}: ${call.name} (${call.key}) is asked about with ${canonical(request.args)}`,
      }
  }
}
