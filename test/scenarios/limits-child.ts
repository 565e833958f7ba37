// A process whose calls share a limit with those of others. It writes each start and end of a body to a ledger.
import { appendFileSync } from 'node:fs'

/** What the process is started with. */
export interface LimitsChild {
  /** A SQLite file, or a schema on a Postgres server. */
  readonly store: { readonly file: string } | { readonly url: string; readonly schema: string }
  readonly ledger: string
  readonly userId: string
  readonly calls: number
  /** Calls at the same time, or starts in `perMs`. */
  readonly max: number
  readonly perMs?: number
  /** How long a body takes, in milliseconds. */
  readonly workMs: number
  /** How far the clock of the process is off, in milliseconds. */
  readonly skewMs?: number
}

const options = JSON.parse(process.argv[2] ?? '{}') as LimitsChild
const { store, ledger, userId, calls, max, perMs, workMs, skewMs = 0 } = options
const realNow = Date.now
Date.now = () => realNow() + skewMs // before anything reads the clock

const { concurrency, LlmAgent, rateLimit, Runner, tool } = await import('toolwright')
const { scriptedModel } = await import('toolwright/testing')
const { postgres } = await import('toolwright/postgres')
const { sqlite } = await import('toolwright/sqlite')

const note = (what: string, id: string): void =>
  appendFileSync(ledger, `${JSON.stringify({ what, id: `${process.pid}/${id}`, pid: process.pid })}\n`)
const work = tool({
  name: 'work',
  description: 'Works',
  effect: 'none',
  run: async (_, { invocation }) => {
    note('start', invocation.session.id)
    await new Promise((resolve) => setTimeout(resolve, workMs))
    note('end', invocation.session.id)
    return { ok: true }
  },
})
const limited =
  perMs === undefined ? concurrency(work, { max, shared: true }) : rateLimit(work, { max, perMs, shared: true })
const model = scriptedModel(({ contents }) =>
  contents.at(-1)?.parts.some((part) => part.functionResponse) ? 'Done.' : { calls: [{ name: 'work', args: {} }] },
)
const services = 'file' in store ? sqlite(store.file) : postgres(store.url, { schema: store.schema })
// only the limits are shared: the sessions are in memory
const { limitService } = services
const agent = new LlmAgent({ name: 'desk', model, tools: [limited] })
await using runner = new Runner({ appName: 'shop', agent, limitService })
process.once('disconnect', () => process.exit())
await new Promise((resolve) => {
  process.once('message', resolve)
  process.send?.('ready')
})
await Promise.all(Array.from({ length: calls }, () => runner.complete({ userId, message: 'Go.' })))
await services.close()
process.disconnect()
