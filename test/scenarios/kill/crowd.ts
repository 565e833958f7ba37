// A process that works in several sessions at once, for ever: it finishes what it finds unfinished, then sends more.
import { flushCompileCache } from 'node:module'
import { approve, type Content, LlmAgent, type Model, type Part, Runner, ToolwrightError } from 'toolwright'
import { type SqliteServices, sqlite } from 'toolwright/sqlite'
import { effects, payment } from './desk.ts'
import { type Reach, reachAt } from './outside.ts'

export interface CrowdOrder {
  readonly file: string
  readonly url: string
  readonly who: string
  readonly sessions: readonly string[]
  readonly aheadMs: number
}

/** What the replies of the turns call, in turn. */
const turns = [
  ['atMostOnce'],
  ['approved'],
  ['none', 'idempotent', 'reconcilable', 'atMostOnce'],
  ['reconcilable', 'approved', 'idempotent', 'approved'],
]

export function crowdRunner(services: SqliteServices, reach: Reach): Runner {
  const tools = [
    ...effects.map((effect) => payment(effect, effect, reach, false)),
    payment('approved', 'atMostOnce', reach, true),
  ]
  const agent = new LlmAgent({ name: 'desk', model: countingModel(), tools })
  return new Runner({ appName: 'app', agent, logger: { warn: () => {}, error: () => {} }, ...services })
}

function countingModel(): Model {
  return {
    name: 'counting',
    async *generate({ contents }) {
      const isAnswered = contents.at(-1)?.role === 'tool'
      const calls = turns[contents.filter(isMessage).length % turns.length] ?? []
      const parts = calls.map((name): Part => ({ functionCall: { name, args: {} } }))
      yield { content: { role: 'model', parts: isAnswered ? [{ text: 'done' }] : parts } }
    },
  }
}

function isMessage({ role, parts }: Content): boolean {
  return role === 'user' && parts.some(({ text }) => text !== undefined)
}

/** Goes on with what is unfinished and approves what is asked, until nothing is left. */
export async function finish(runner: Runner, sessionId: string, reach: Reach): Promise<void> {
  await show(runner.resume({ userId: 'ada', sessionId }), reach).catch((error) => {
    if (!(error instanceof ToolwrightError && error.code === 'NOT_FOUND')) throw error
  })
  for (;;) {
    const message = (await runner.pending({ userId: 'ada', sessionId })).map((request) => approve(request))
    if (message.length === 0) return
    await show(runner.run({ userId: 'ada', sessionId, message }), reach)
  }
}

export async function send(runner: Runner, sessionId: string, reach: Reach): Promise<void> {
  await show(runner.run({ userId: 'ada', sessionId, message: 'go' }), reach)
}

/** The world is a witness of every event that was shown. */
async function show(run: ReturnType<Runner['run']>, reach: Reach): Promise<void> {
  for await (const { id } of run) await reach({ point: 'shown', shown: { sessionId: run.sessionId, id } })
}

if (import.meta.main) {
  flushCompileCache() // it will not end by itself
  const { file, url, who, sessions, aheadMs } = JSON.parse(process.argv[2] ?? '') as CrowdOrder
  const reach = reachAt(url, who)
  const runner = crowdRunner(sqlite(file, { now: () => Date.now() + aheadMs }), reach)
  const work = async (sessionId: string): Promise<never> => {
    for (;;) {
      await finish(runner, sessionId, reach)
      await send(runner, sessionId, reach)
    }
  }
  await Promise.all(sessions.map(work))
}
