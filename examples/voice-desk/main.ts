// A call with the payment desk, printed as it happens. The person at the terminal confirms the payment.
//   npx node examples/voice-desk/main.ts                        offline, against a local server that plays a script
//   npx node examples/voice-desk/main.ts --deny "Not today."    denies the payment without asking
//   npx node examples/voice-desk/main.ts --model gemini-...     a real model: set GEMINI_API_KEY, then type what you say
import { parseArgs } from 'node:util'
import { geminiLive } from 'toolwright/gemini'
import { connectLive } from 'toolwright/live'
import { desk } from './desk.ts'
import { linesOf } from './print.ts'
import { startServer } from './script.ts'
import { confirmWith, keepSpeaking, sendLines } from './terminal.ts'

const { values } = parseArgs({ options: { model: { type: 'string' }, deny: { type: 'string' } } })
const server = values.model === undefined ? await startServer() : undefined
const model = server
  ? geminiLive('gemini-2.5-flash-native-audio-preview-12-2025', { apiKey: 'any', baseUrl: server.url })
  : geminiLive(values.model ?? '')

const session = await connectLive({ ...desk, model, confirmationProvider: confirmWith(values.deny) })
const stopSpeaking = server ? keepSpeaking(session) : sendLines(session)
for await (const event of session) {
  for (const line of linesOf(event)) console.log(line)
  if (event.type === 'turnComplete' && session.state.get('call_ended')) break // leaving the loop closes the session
}
stopSpeaking()
await server?.close()
if (server?.problems.length) throw new Error(server.problems.join('\n'))
