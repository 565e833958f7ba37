// The agent file of the tests of `toolwright worker --restate`. VERSION makes another agent tree.
import { LlmAgent, Runner, tool } from 'toolwright'
import { postgres } from 'toolwright/postgres'
import { offlineModel } from 'toolwright/testing'
import { z } from 'zod'

const { DATABASE_URL = '', OFFICE_URL = '', WORKER = '', VERSION = '' } = process.env

const file = tool({
  name: 'file',
  description: `File a letter (${VERSION})`,
  parameters: z.object({ topic: z.string() }),
  effect: 'idempotent',
  timeoutMs: 300_000,
  run: async ({ topic }, { signal }) => {
    const body = JSON.stringify({ worker: WORKER, topic })
    return await (await fetch(OFFICE_URL, { method: 'POST', body, signal })).json()
  },
})

const agent = new LlmAgent({ name: 'desk', model: offlineModel(), tools: [file] })
const desk: Runner = new Runner({ appName: 'desk', agent, ...postgres(DATABASE_URL, { leaseMs: 5_000 }) })
export default desk
