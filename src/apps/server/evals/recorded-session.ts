// Reads the session that becomes a case.
import type { RecordedSession } from '../../../adapters/eval/recording/record-case.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { RequestContext, ServerParts } from '../env.ts'
import { actingUser } from '../principal/authentication.ts'
import { appOf, findSessionState, inSession } from '../routes/scope.ts'
import type { Fields } from '../wire/fields.ts'
import { MAX_SET_BYTES } from './eval-folder.ts'

/** The session that the body of a request names, with its log. Throws NOT_FOUND, and TOO_LARGE for a log that no set can hold. */
export async function readRecordedSession(
  context: RequestContext,
  parts: ServerParts,
  body: Fields,
): Promise<RecordedSession> {
  const app = appOf(context, parts)
  const userId = actingUser(context, body.text('userId'))
  const scope = inSession({ app, appName: app.name, userId }, body.text('sessionId'))
  const { state } = await findSessionState(scope)
  const page = await app.runner.sessionService.readLog?.({ ...scope.key, maxBytes: MAX_SET_BYTES })
  if (!page)
    throw new ToolwrightError(
      'NOT_FOUND',
      'The session service of the app has no readLog(), so its sessions are no cases.',
    )
  if ((page.entries.at(-1)?.seq ?? 0) < page.lastSeq)
    throw new ToolwrightError('TOO_LARGE', `The log of the session has more than ${MAX_SET_BYTES} bytes.`)
  return { key: scope.key, entries: page.entries, state: { ...state } }
}
