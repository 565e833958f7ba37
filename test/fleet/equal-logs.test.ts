// The same agent file and story, on every store and on Restate: one log.
import { agentTool, approve, InMemorySessionService, LlmAgent, Runner, type SessionService, tool } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, inject, test } from 'vitest'
import { emptyStore } from '../postgres/empty-store.ts'
import { ADA, openFleet } from './fleet.test-kit.ts'

const NOW = 1_700_000_000_000
const ports = { now: () => NOW }

/** An agent with a gate, parallel calls, state, and an agent as a tool. */
function createAgent(): LlmAgent {
  const lookUp = tool({ name: 'look_up', description: 'Looks up', effect: 'none', run: () => ({ name: 'Ada' }) })
  const book = tool({
    name: 'book',
    description: 'Books',
    effect: 'idempotent',
    run: (_, { state }) => {
      state.set('booked', true)
      return { booked: true }
    },
  })
  const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run: () => ({ paid: true }) })
  const steps = [
    {
      calls: [
        { name: 'book', args: {} },
        { name: 'look_up', args: {} },
      ],
    },
    'Booked.',
  ]
  const clerk = new LlmAgent({
    name: 'clerk',
    description: 'Books',
    model: scriptedModel(steps),
    tools: [book, lookUp],
  })
  const model = scriptedModel([
    {
      calls: [
        { name: 'clerk', args: { request: 'Book.' } },
        { name: 'pay', args: {} },
      ],
    },
    'Booked and paid.',
    { calls: [{ name: 'no_tool', args: {} }] },
    'Bye.',
  ])
  return new LlmAgent({ name: 'desk', model, tools: [agentTool(clerk), pay] })
}

/** Who runs the story. */
interface Storyteller {
  readonly appName: string
  readonly sessionService: SessionService
  pending: Runner['pending']
  /** Sends a message, and waits until its run has completed or paused. */
  say(message: string): Promise<unknown>
  answer(message: ReturnType<typeof approve>[]): Promise<unknown>
}

async function tellStory(teller: Storyteller): Promise<readonly string[]> {
  await teller.say('Book and pay.')
  await teller.answer((await teller.pending(ADA)).map((request) => approve(request)))
  await teller.say('Bye.')
  return await readLog(teller)
}

/** The log, with ids renamed in order of appearance. */
async function readLog({ sessionService, appName }: Storyteller): Promise<readonly string[]> {
  const lease = await sessionService.claim({ appName, ...ADA })
  const { entries } = await sessionService.read(lease)
  await sessionService.release(lease)
  const lines = entries.map(({ seq, event, record }) => `${seq} ${JSON.stringify(event ?? record)}`)
  return withOwnNames(lines.join('\n').replaceAll(appName, 'shop')).split('\n')
}

/** Replaces the first id by #1, the second one by #2, and so on. */
function withOwnNames(text: string): string {
  const ids = new Set<string>()
  JSON.parse(`[${text.replaceAll(/^\d+ /gm, '').replaceAll('\n', ',')}]`, (key, value: unknown) => {
    if (typeof value === 'string' && /^(id|\w+Id)$/.test(key) && !['ada', 's1'].includes(value)) ids.add(value)
    return value
  })
  const inOrder = [...ids].toSorted((a, b) => text.indexOf(a) - text.indexOf(b))
  const names = new Map(inOrder.map((id, at) => [id, `#${at + 1}`]))
  const longestFirst = inOrder.toSorted((a, b) => b.length - a.length)
  return longestFirst.reduce((renamed, id) => renamed.replaceAll(id, String(names.get(id))), text)
}

async function tellWith(sessionService: SessionService): Promise<readonly string[]> {
  const runner = new Runner({ appName: 'shop', agent: createAgent(), sessionService, ports })
  const say = (message: string | ReturnType<typeof approve>[]) => runner.complete({ ...ADA, message })
  const log = await tellStory({
    appName: 'shop',
    sessionService,
    pending: (filter) => runner.pending(filter),
    say,
    answer: say,
  })
  await runner.close()
  return log
}

describe.skipIf(!inject('restate'))('the log of a story', () => {
  test('is the same in memory, on SQLite, on Postgres, and on Restate', async () => {
    const inMemory = await tellWith(new InMemorySessionService())
    expect(inMemory.length).toBeGreaterThan(12)
    expect(await tellWith(sqlite(':memory:').sessionService)).toEqual(inMemory)
    expect(await tellWith(emptyStore().sessionService)).toEqual(inMemory)

    const fleet = await openFleet(createAgent(), { sessionService: emptyStore().sessionService, ports })
    const runner = fleet.openRunner()
    await fleet.startWorker()
    const { appName, sessionService, engine } = fleet
    const onRestate = await tellStory({
      appName,
      sessionService,
      pending: (filter) => runner.pending(filter),
      say: (message) => engine.call({ appName, ...ADA }, 'run', { message }),
      answer: (message) => fleet.call('answer', { message }),
    })
    expect(onRestate).toEqual(inMemory)
  })
})
