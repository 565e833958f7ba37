// The server of `bench:page`: one app, and a session with as many events as the first argument says.
import { createEvent, InMemorySessionService, LlmAgent, tool } from 'toolwright'
import { createServer } from 'toolwright/server'
import { scriptedModel } from 'toolwright/testing'

const [count, page] = [Number(process.argv[2]), process.argv[3]]
const sessionService = new InMemorySessionService()

/** A message, a reply with a call, its response, a reply: again and again. */
function eventAt(at) {
  const turn = at >> 2
  const fields = { id: `e${at}`, invocationId: `i${turn}`, timestamp: 1_700_000_000 + at, nodeInfo: { path: 'desk' } }
  const call = { id: `c${turn}`, name: 'find_order' }
  const text = `Order ${turn} has **${turn % 7} items**.\n\n- \`lamp\`\n- chair`
  switch (at % 4) {
    case 0:
      return createEvent({
        ...fields,
        author: 'user',
        content: { role: 'user', parts: [{ text: `Where is ${turn}?` }] },
      })
    case 1:
      return createEvent({
        ...fields,
        author: 'desk',
        content: {
          role: 'model',
          parts: [{ functionCall: { ...call, args: { order: turn, deep: { a: [1, 2, 3] } } } }],
        },
      })
    case 2:
      return createEvent({
        ...fields,
        author: 'desk',
        content: { role: 'tool', parts: [{ functionResponse: { ...call, response: { found: true, items: [text] } } }] },
      })
    default:
      return createEvent({
        ...fields,
        author: 'desk',
        turnComplete: true,
        content: { role: 'model', parts: [{ text }] },
      })
  }
}

const events = Array.from({ length: count }, (_, at) => eventAt(at))
await sessionService.createSession({ appName: 'desk', userId: 'user', sessionId: 'long', events })
await sessionService.createSession({ appName: 'desk', userId: 'user', sessionId: 'short', events: events.slice(0, 40) })

const agent = new LlmAgent({ name: 'desk', model: scriptedModel([]) })

// A run with 455 model calls and 4,540 tool calls, as fast as the log takes them.
const REPLIES = 455
const step = tool({ name: 'step', description: 'Steps', effect: 'none', run: () => ({ done: true }) })
let replies = 0
const callsOf = (reply) =>
  Array.from({ length: 10 }, (_, at) => ({ functionCall: { name: 'step', args: { reply, at } } }))
const walker = {
  name: 'walker',
  async *generate() {
    const isDone = ++replies % REPLIES === 0
    const parts = isDone ? [{ text: 'All steps are done.' }] : callsOf(replies)
    yield { content: { role: 'model', parts } }
  },
}
const walk = new LlmAgent({ name: 'walk', model: walker, tools: [step], includeContents: 'none', maxIterations: 1_000 })

const server = createServer({ apps: { desk: agent, walk }, services: { sessionService }, dev: true, page })
const { url } = await server.listen({ port: 0 })
console.log(`READY ${JSON.stringify({ url, token: server.token })}`)
process.stdin.on('end', () => void server.close().then(() => process.exit())).resume()
