// The second command, in another process at any later time: approves or denies the oldest pending request.
//   npx node examples/approvals/approve.ts
//   npx node examples/approvals/approve.ts deny "It was never paid."
import { approve, deny } from 'toolwright'
import runner from './desk.ts'

const [decision = 'approve', reason = ''] = process.argv.slice(2)
const [request] = await runner.pending()
if (request) {
  const { hint, userId, sessionId } = request
  console.log(`${hint} ${decision}`)
  const answer = decision === 'approve' ? approve(request) : deny(request, { reason })
  const { text } = await runner.complete({ userId, sessionId, message: [answer] })
  if (text) console.log(text) // empty while other calls of the same batch are pending
} else console.log('Nothing is pending.')
await runner.close()
