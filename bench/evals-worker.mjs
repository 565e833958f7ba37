// The agent of evals.mjs, and with `fill` the program that writes its set of cases and its database.
import { writeFileSync } from 'node:fs'
import { InMemorySessionService, LlmAgent, Runner, tool } from 'toolwright'

const CALLS = 5
const key = { appName: 'bench', userId: 'ada', sessionId: 's1' }

/** Calls the tool five times, one call after another, then answers. */
const model = {
  name: 'scripted',
  async *generate({ contents }) {
    const last = contents.findLastIndex(({ role, parts }) => role === 'user' && parts[0]?.text !== undefined)
    const done = contents.slice(last).filter(({ role }) => role === 'tool').length
    const functionCall = { name: 'look', args: { order: `A-${done}` } }
    const usageMetadata = { promptTokenCount: 120, candidatesTokenCount: 12 }
    yield {
      content: { role: 'model', parts: [done < CALLS ? { functionCall } : { text: 'All orders are on their way.' }] },
      usageMetadata,
    }
  },
}
const look = tool({
  name: 'look',
  description: 'Looks an order up',
  parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
  run: ({ order }, context) => {
    context.state.set('last', order)
    return { order, item: 'lamp', price: 40, status: 'on its way', notes: 'x'.repeat(200) }
  },
})
const agent = new LlmAgent({ name: 'desk', model, instruction: 'Help with orders.', tools: [look] })
export default agent

if (process.argv[2] === 'fill') await fill(JSON.parse(process.argv[3]))

async function fill({ cases, entries, set, database }) {
  const sessionService = new InMemorySessionService()
  const runner = new Runner({ appName: key.appName, agent, sessionService })
  await runner.complete({ ...key, message: 'Where are my orders?' })
  const log = (await sessionService.readLog(key)).entries
  await writeSet({ cases, set, log, state: (await sessionService.getSession(key)).state })
  await fillDatabase({ entries, database, log })
}

/** Each case is a recording of its own. */
async function writeSet({ cases, set, log, state }) {
  const { recordCase, saveCase } = await import('toolwright/eval')
  const one = await recordCase({ key, entries: log, state }, { target: agent, id: 'case' })
  const file = JSON.parse(saveCase(one, { text: undefined, name: set, setId: 'desk' }))
  const [made] = file.eval_cases
  file.eval_cases = Array.from({ length: cases }, (_, at) => ({ ...made, eval_id: `case-${at}` }))
  writeFileSync(set, JSON.stringify(file))
}

/** Sessions of ten turns, with ids of their own. */
async function fillDatabase({ entries, database, log }) {
  const { sqlite } = await import('toolwright/sqlite')
  const services = sqlite(database)
  const plain = JSON.stringify(log.map(({ event, record }) => (event ? { event } : { record })))
  const { invocationId } = log[0].event
  const turn = (at) => {
    const text = plain.replaceAll(invocationId, `e-${at}`).replaceAll(/"id":"([^"]+)"/g, `"id":"$1-${at}"`)
    return JSON.parse(text)
  }
  for (let at = 0; at * log.length < entries; at += 10) {
    const session = { ...key, sessionId: `s${at}` }
    await services.sessionService.createSession(session)
    const lease = await services.sessionService.claim(session)
    const turns = Array.from({ length: 10 }, (_, index) => turn(at + index)).flat()
    await services.sessionService.append(lease, 0, turns)
    await services.sessionService.release(lease)
  }
  services.close()
}
