// The auditor. It knows only the evidence, and shares no code with the product.
import { ackedIsDurable } from './audit/acked-is-durable.ts'
import { approvals } from './audit/approvals.ts'
import { bounded } from './audit/bounded.ts'
import { cancelledWork } from './audit/cancelled-work.ts'
import { copies } from './audit/copies.ts'
import { earlyAnswers } from './audit/early-answers.ts'
import { failsInTheOpen } from './audit/fails-in-the-open.ts'
import { honestEffects } from './audit/honest-effects.ts'
import { intentBeforeEffect } from './audit/intent-before-effect.ts'
import { leases } from './audit/leases.ts'
import { type AuditedLog, readLogs } from './audit/log.ts'
import { oneDispatcher } from './audit/one-dispatcher.ts'
import { oneResponse } from './audit/one-response.ts'
import { oneWriter } from './audit/one-writer.ts'
import { rightOrder } from './audit/right-order.ts'
import { sendableHistory } from './audit/sendable-history.ts'
import { stateFollows } from './audit/state-follows.ts'
import { staysExpired } from './audit/stays-expired.ts'
import { uniqueIds } from './audit/unique-ids.ts'
import { untampered } from './audit/untampered.ts'
import type { Violation } from './audit/violation.ts'
import type { Evidence } from './evidence.ts'

type Check = (evidence: Evidence, logs: readonly AuditedLog[]) => Iterable<Violation>

const checks: readonly Check[] = [
  ackedIsDurable,
  oneWriter,
  intentBeforeEffect,
  honestEffects,
  approvals,
  oneDispatcher,
  sendableHistory,
  oneResponse,
  stateFollows,
  rightOrder,
  bounded,
  cancelledWork,
  earlyAnswers,
  leases,
  staysExpired,
  uniqueIds,
  untampered,
  copies,
  failsInTheOpen,
]

/** All violations in the evidence. */
export function audit(evidence: Evidence): Violation[] {
  const logs = readLogs(evidence)
  const stuck = evidence.unfinished.map((says): Violation => ({ promise: 'liveness', says }))
  return [...stuck, ...checks.flatMap((check) => [...check(evidence, logs)])]
}
