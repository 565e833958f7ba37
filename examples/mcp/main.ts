// The agent of desk.ts in a program: two notes, then a question of the server that the user answers.
//   npx node examples/mcp/main.ts
import { Runner, respond } from 'toolwright'
import agent from './desk.ts'

const runner = new Runner({ appName: 'notes', agent })
const session = { userId: 'ada', sessionId: 's1' }

for (const message of ['Add the note "buy milk".', 'List the notes.', 'Delete all notes.']) {
  const { text, pending } = await runner.complete({ ...session, message })
  console.log(`> ${message}\n${pending.length ? '' : text}`.trimEnd())
  for (const request of pending) {
    console.log(request.hint)
    // the server asks with a form: here, with one field
    const { text } = await runner.complete({ ...session, message: [respond(request, { approve: true })] })
    console.log(text)
  }
}
await runner.close()
