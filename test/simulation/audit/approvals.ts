// P5: a call that requires approval runs only after an approval of that call with those arguments.
import { type Evidence, type LedgerEntry, markIn, type SentAnswer } from '../evidence.ts'
import { needsApproval, type ToolSpec } from '../plan.ts'
import { type Asked, type AuditedCall, type AuditedLog, canonical, decisionIn, finalOf } from './log.ts'
import type { Violation } from './violation.ts'

export function* approvals({ ledger, plan, answers }: Evidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  for (const entry of ledger) {
    const spec = plan.tools.find(({ name }) => name === entry.tool)
    const log = logs.find(({ session }) => session === entry.session)
    const call = log?.calls.get(entry.key)
    if (!spec || !log || !call || !needsApprovalHere(spec, call, entry)) continue
    const problem = findProblem(log, call, spec, entry, answers)
    if (problem)
      yield { promise: 'P5', says: `${entry.session}: ${entry.tool} (${entry.key}) ${entry.step}: ${problem}` }
  }
  for (const log of logs) {
    for (const call of log.calls.values()) {
      yield* requestsOnce(log, call)
      yield* hasValidEdits(
        log,
        call,
        plan.tools.find(({ name }) => name === call.name),
      )
      yield* requestsCalledArguments(log, call, plan.tools.find(({ name }) => name === call.name)?.editable === true)
    }
  }
}

/** A body that requests its own confirmation may begin without one, but must not take effect. */
function needsApprovalHere(spec: ToolSpec, call: AuditedCall, { step, args }: LedgerEntry): boolean {
  if (step === 'reconciled' || step === 'cancelled' || step === 'stopped') return false
  if (spec.gate === 'body') return step !== 'began'
  return needsApproval(spec, args) || call.asked.some(({ request }) => request.kind === 'confirmation')
}

function findProblem(
  log: AuditedLog,
  call: AuditedCall,
  { editable }: ToolSpec,
  { tick, args }: LedgerEntry,
  answers: readonly SentAnswer[],
): string | undefined {
  const isBefore = (seq: number): boolean => (log.stored(seq)?.tick ?? Number.POSITIVE_INFINITY) < tick
  const final = finalOf(call)
  const intent = call.intents.findLast(({ seq }) => isBefore(seq))
  if (final && intent && final.seq < intent.seq) return 'the call had its response: the approval was used up'
  const asked = call.asked.filter(({ seq, request }) => request.kind === 'confirmation' && isBefore(seq)).at(-1)
  if (!asked) return 'no approval was requested'
  if (asked.denied !== undefined && isBefore(asked.denied)) return 'the request had expired'
  if (!asked.answer || !isBefore(asked.answer.seq)) return 'the request had no answer'
  const approvalsSent = approvalsOf(asked, log, answers, tick)
  if (approvalsSent.length === 0) return 'no owner of the session had approved'
  // edited arguments replace the requested ones, if the tool allows it
  const approved = approvalsSent.flatMap((one) =>
    one.args === undefined ? [asked.request.args] : editable ? [one.args] : [],
  )
  return approved.some((one) => canonical(one) === canonical(args)) ? undefined : 'other arguments had been approved'
}

/** The approvals that the owner of the session sent before. */
function approvalsOf(
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

/** No recorded approval has invalid arguments, or edited arguments for a tool that does not allow them. */
function* hasValidEdits(
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

/** No request is recorded twice: one approval would count twice. */
function* requestsOnce({ session }: AuditedLog, { asked, name, key }: AuditedCall): Iterable<Violation> {
  const seen = new Set<string>()
  for (const { request } of asked) {
    const { kind, origin, key: which, args, definition } = request
    const question = canonical({ kind, origin, which, args, definition })
    if (seen.has(question)) yield { promise: 'P5', says: `${session}: ${name} (${key}) has two equal requests` }
    seen.add(question)
  }
}

/** Requests show the arguments of the model, or those of an approver who may edit them. */
function* requestsCalledArguments({ session }: AuditedLog, call: AuditedCall, editable: boolean): Iterable<Violation> {
  if (editable) return
  for (const { request } of call.asked) {
    if (canonical(request.args) !== canonical(call.args))
      yield {
        promise: 'P5',
        says: `${session}: ${call.name} (${call.key}) has a request with ${canonical(request.args)}`,
      }
  }
}
