import { createEvent, ToolwrightError } from 'toolwright'
import type { Desk } from './desk.ts'

/** With so many entries, the next invocation begins with a checkpoint. */
const ENTRIES = 130

/** Creates the session with a long history, if it does not exist. */
export async function importHistory({ app: appName, userId, sessionId, outside }: Desk): Promise<void> {
  const events = Array.from({ length: ENTRIES }, (_, at) =>
    createEvent({
      id: `earlier-${at}`,
      invocationId: `earlier-${at}`,
      author: 'desk',
      content: { role: 'model', parts: [{ text: 'done' }] },
    }),
  )
  await outside.createSession({ appName, userId, sessionId, events }).catch((error) => {
    if (!(error instanceof ToolwrightError && error.code === 'ALREADY_EXISTS')) throw error
  })
}
