import { showInvisible } from '../../../core/base/escape.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import { showLine } from './request-text.ts'

/** How many characters of a question are shown. */
const MAX_HINT = 1_000

/** Says what a call waits for and how to answer, for a client that cannot ask its user. */
export function pendingText(requests: readonly PendingRequest[]): string {
  return requests.map(describe).join('\n')
}

function describe(request: PendingRequest): string {
  const { id, sessionId, kind, authUri } = request
  const tool = showInvisible(request.tool)
  const hint = showLine(request.hint ?? '', MAX_HINT)
  const where = `Session "${sessionId}", request "${id}".`
  const answer = (part: string): string =>
    `Use a client with elicitation, or answer in the program that serves: server.runner.run({ userId, sessionId, message: [${part}] }); server.runner.pending() lists the request. ${where}`
  switch (kind) {
    case 'confirmation':
      return `Tool "${tool}" was not run: it needs an approval, and this client cannot ask for one. ${answer('approve(request)')}`
    case 'input':
      return `Tool "${tool}" asks: ${hint} This client cannot ask its user. ${answer('respond(request, value)')}`
    case 'credential':
      return `Tool "${tool}" was not run: the user must sign in${authUri ? ` at ${authUri}` : ''}. Call the tool again after the sign-in. ${where}`
    default:
      return `Tool "${tool}" has started work whose result arrives later. ${answer('respond(request, result)')}`
  }
}
