// Answers that are recorded without a run: a worker continues their invocation.

import { loadLater } from '../../../core/base/load-later.ts'
import type { Content } from '../../../core/content/content.ts'
import { acceptAnswers } from '../approvals/accept.ts'
import type { ClaimedSession } from '../inbox/post-answers.ts'
import { postCheckedAnswers } from '../inbox/post-checked-answers.ts'
import type { HeldSession } from '../session/held-session.ts'
import { claimIfFree } from '../session/leases.ts'
import type { RunFactory } from './run-factory.ts'
import type { RunRequest } from './run-request.ts'
import { requireLease } from './run-starter.ts'
import { applyInbox, releaseUnused, settleOverdue } from './settle-session.ts'

const consentAnswers = loadLater(() => import('../approvals/consent-answers.ts'))

/** The lease of the session, and how the answers were posted before it was claimed. */
type Posted = Omit<ClaimedSession, 'type'>

/** Answers to record. */
export type AnswerRequest = RunRequest & {
  /** The answers. */
  readonly message: Content
}

/** Records answers, or posts them to the process that holds the session. Throws what a run with these answers would throw. */
export async function recordAnswers(factory: RunFactory, request: AnswerRequest): Promise<void> {
  const { userId, sessionId, mayHoldCode = false } = request
  factory.throwIfClosed()
  if (!mayHoldCode) return await record(factory, request)
  const { completeConsents } = await consentAnswers()
  const key = { appName: factory.appName, userId, sessionId }
  const { message, expired } = await completeConsents(key, request.message, factory.services)
  await record(factory, { ...request, message })
  if (expired) throw expired
}

async function record(factory: RunFactory, request: AnswerRequest): Promise<void> {
  const { appName, services, running, tree } = factory
  const { userId, sessionId, message, stateDelta } = request
  const key = { appName, userId, sessionId }
  const claimedAt = services.ports.monotonicNow()
  const free = await claimIfFree(services.sessionService, key)
  if (free) return await recordHeld(factory, request, { lease: free.lease, ...NOT_POSTED }, claimedAt)
  const isHeldHere = running.of(key).length > 0
  if (!isHeldHere) return await postCheckedAnswers(key, { message, stateDelta }, { tree, services })
  const claim = await factory.claim(request)
  if (claim.type === 'followed')
    claim.run.removeConsumer() // the run of this process has recorded them
  else await recordHeld(factory, request, claim, services.ports.monotonicNow())
}

const NOT_POSTED = { drained: undefined, asOf: Number.POSITIVE_INFINITY }

/** Records answers of a session whose lease is claimed. The session counts as interrupted until a run has continued it. */
async function recordHeld(
  factory: RunFactory,
  request: AnswerRequest,
  claim: Posted,
  claimedAt: number,
): Promise<void> {
  const lease = requireLease(claim.lease, request)
  let held: HeldSession | undefined
  let refused = claim.drained
  try {
    held = await factory.open(lease, claimedAt)
    const items = await held.inbox()
    if (items.length) await applyInbox(factory, held, items, request.runContext)
    if (held.isOutdated) held = await factory.open(lease, claimedAt)
    await settleOverdue(factory, held)
    await append(factory, held, request, claim)
    refused = undefined
  } finally {
    await releaseUnused(factory, lease, held, refused)
  }
}

async function append(
  factory: RunFactory,
  held: HeldSession,
  request: AnswerRequest,
  { drained, asOf }: Posted,
): Promise<void> {
  const { tree, services } = factory
  const hostOf = (id: string) => factory.create(held, id, request).data
  const asks = { tree, services, hostOf }
  const accepted = await acceptAnswers(held, request.message, { now: services.ports.now(), asOf, asks })
  if (accepted.type === 'record')
    await factory.create(held, accepted.invocationId, request).recordAnswers(accepted.message, request, drained)
  else if (drained) await held.append([], drained)
}
