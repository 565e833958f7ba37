import type { Part } from '../../../src/core/content/content.ts'
import type { AppRequest } from '../inbox/app-request.ts'
import { openLog } from '../session/open-logs.ts'

/** Sends the answer to a request, as the user of its session. Resolves when the run that follows has ended. */
export async function sendAnswer({ app, request }: AppRequest, answer: Part): Promise<'sent'> {
  const { userId, sessionId } = request
  await openLog({ app, userId, sessionId }).send([answer])
  return 'sent'
}
