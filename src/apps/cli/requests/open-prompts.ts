import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { Runner } from '../../../engine/runner/runner.ts'
import { type ConsentOptions, consentPrompt } from '../consent/consent-prompt.ts'
import { type PromptSource, type RequestPrompt, requestPrompt } from './request-prompt.ts'

/** Options of `openPrompts`. */
interface PromptOptions extends Pick<ConsentOptions, 'openBrowser'> {
  /** The runner that made the requests. */
  readonly runner: Pick<Runner, 'agent' | 'previewApproval'>
  /** Called with each request that a user cannot answer in a terminal. */
  onWaiting(request: PendingRequest): void
}

/** Creates a prompt for each request that a user can answer here. Requests for the same credential share one. */
export function openPrompts(pending: readonly PendingRequest[], options: PromptOptions): RequestPrompt[] {
  const { runner, openBrowser, onWaiting } = options
  const source: PromptSource = {
    rootName: runner.agent.name,
    preview: ({ userId, sessionId, id: requestId }, args) =>
      runner.previewApproval({ userId, sessionId, requestId, args }),
  }
  return pending.flatMap((request, at) => {
    const isSame = (one: PendingRequest): boolean => isSameCredential(one, request)
    if (pending.slice(0, at).some(isSame)) return []
    const prompt =
      request.kind === 'credential'
        ? consentPrompt(request, { same: pending.slice(at + 1).filter(isSame), openBrowser })
        : requestPrompt(request, source)
    if (!prompt) onWaiting(request)
    return prompt ?? []
  })
}

/** Does one consent answer both requests? */
function isSameCredential(one: PendingRequest, { kind, key, invocationId }: PendingRequest): boolean {
  return kind === 'credential' && one.kind === kind && one.key === key && one.invocationId === invocationId
}
