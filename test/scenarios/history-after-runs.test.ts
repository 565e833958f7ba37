// However a run ends, the next request is accepted by every provider.
import { approve, deny, LlmAgent, longRunning, type SessionService, tool } from 'toolwright'
import { type ScriptedStep, scriptedModel, strictModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import {
  answerPart,
  finalResponses,
  historyProblems,
  refundReply,
  refundTool,
  requestFor,
  sendMessage,
  startProcess,
  storedEvents,
  stores,
  where,
} from './approvals-kit.ts'
import { createDeferred } from './kit.ts'

const DAY = 24 * 60 * 60 * 1000
const order = longRunning(tool({ name: 'order', description: 'Order', run: () => ({ ticket: 7 }) }))
const look = tool({ name: 'look', description: 'Look', effect: 'none', run: () => ({ found: true }) })
const { refund } = refundTool()
const tools = [order, look, refund]

const three: ScriptedStep = {
  text: 'One moment.',
  calls: [
    { id: 'l1', name: 'look' },
    { id: 'c1', name: 'refund', args: { amount: 5 } },
    { id: 'o1', name: 'order' },
  ],
}

/** Runs up to the point of the next user message; returns options of the process that receives it. */
type Story = (store: SessionService) => Promise<Parameters<typeof startProcess>[1] | undefined>

const stories: readonly [name: string, story: Story][] = [
  [
    'an approval',
    async (store) => {
      const { pending } = await sendMessage(startProcess(store, { tools, steps: [refundReply(5)] }).runner)
      await sendMessage(startProcess(store, { tools, steps: ['done'] }).runner, [approve(requestFor(pending))])
      return undefined
    },
  ],
  [
    'a denial and an approval of one batch, in two processes',
    async (store) => {
      const { pending } = await sendMessage(startProcess(store, { tools, steps: [refundReply(5, 6)] }).runner)
      await sendMessage(startProcess(store, { tools }).runner, [
        deny(requestFor(pending, 'c2'), { reason: 'too much' }),
      ])
      await sendMessage(startProcess(store, { tools, steps: ['done'] }).runner, [approve(requestFor(pending, 'c1'))])
      return undefined
    },
  ],
  [
    'an expired confirmation',
    async (store) => {
      let now = 0
      const runner = { ports: { now: () => now } }
      await sendMessage(startProcess(store, { tools, steps: [refundReply(5)], runner }).runner)
      now += DAY
      for await (const _ of startProcess(store, { tools, steps: ['sorry'], runner }).runner.resume(where));
      return { runner }
    },
  ],
  [
    'a cancelled confirmation',
    async (store) => {
      const { runner } = startProcess(store, { tools, steps: [three] })
      await sendMessage(runner)
      await runner.cancel(where)
      return undefined
    },
  ],
  [
    'a confirmation cancelled by new text',
    async (store) => {
      await sendMessage(startProcess(store, { tools, steps: [three] }).runner)
      return { runner: { whilePaused: 'cancel' } }
    },
  ],
  [
    'a long-running call with user messages, a partial result and a result',
    async (store) => {
      await sendMessage(startProcess(store, { tools, steps: [{ calls: [{ id: 'o1', name: 'order' }] }] }).runner)
      await sendMessage(startProcess(store, { tools, steps: ['soon'] }).runner, 'and?')
      const { runner } = startProcess(store, { tools, steps: ['here', 'really'] })
      const news = { functionResponse: { id: 'o1', name: 'order', response: { at: 'the door' }, willContinue: true } }
      await sendMessage(runner, [news])
      await sendMessage(runner, [answerPart('o1', { box: 1 }, 'order')])
      return undefined
    },
  ],
  [
    'a long-running call without a result',
    async (store) => {
      await sendMessage(startProcess(store, { tools, steps: [{ calls: [{ id: 'o1', name: 'order' }] }] }).runner)
      return undefined
    },
  ],
  [
    'a transfer next to a confirmation and a long-running call, and back',
    async (store) => {
      const model = strictModel(
        scriptedModel([
          'clerk here',
          { calls: [{ id: 't2', name: 'transfer_to_agent', args: { agent_name: 'agent' } }] },
        ]),
      )
      const agent = { subAgents: [new LlmAgent({ name: 'clerk', model })] }
      const calls = [
        { id: 'c1', name: 'refund', args: { amount: 5 } },
        { id: 't1', name: 'transfer_to_agent', args: { agent_name: 'clerk' } },
        { id: 'o1', name: 'order' },
      ]
      const { runner } = startProcess(store, { tools, steps: [{ calls }, 'back again'], agent })
      await sendMessage(runner)
      await sendMessage(runner, 'back, please')
      return { agent: { subAgents: [new LlmAgent({ name: 'clerk', model: scriptedModel([]) })] } }
    },
  ],
  [
    'a batch that was cancelled before its end',
    async (store) => {
      const isHeld = createDeferred()
      const holdOn = () => {
        isHeld.resolve()
        return new Promise(() => {})
      }
      const hold = tool({ name: 'hold', description: 'Hold', run: () => holdOn() })
      const calls = [
        { id: 'l1', name: 'look' },
        { id: 'h1', name: 'hold' },
        { id: 'h2', name: 'hold' },
      ]
      const { runner } = startProcess(store, { tools: [look, hold], steps: [{ calls }] })
      const run = sendMessage(runner)
      await isHeld.promise
      await runner.cancel(where)
      await run
      return undefined
    },
  ],
  [
    'a model that fails after the responses of its calls',
    async (store) => {
      await sendMessage(
        startProcess(store, { tools, steps: [{ calls: [{ id: 'l1', name: 'look' }] }, { error: 'overloaded' }] })
          .runner,
      )
      return undefined
    },
  ],
  [
    'code and a call in one reply',
    async (store) => {
      const codeExecutor = { languages: ['javascript'], execute: async () => ({ outcome: 'OK' as const, output: '6' }) }
      const code = { executableCode: { language: 'javascript', code: '2 * 3' } }
      const steps: ScriptedStep[] = [{ parts: [code], calls: [{ id: 'l1', name: 'look' }] }, { parts: [code] }, 'six']
      await sendMessage(startProcess(store, { tools, steps, agent: { codeExecutor } }).runner)
      return { agent: { codeExecutor } }
    },
  ],
  [
    'calls without ids',
    async (store) => {
      await sendMessage(
        startProcess(store, { tools, steps: [{ calls: [{ name: 'look' }, { name: 'look' }] }, 'done'] }).runner,
      )
      return undefined
    },
  ],
]

describe.each(stores)('the runner with sessions %s', (_, newStore) => {
  test.each(stories)('sends a valid history after %s [PR-11]', async (_name, story) => {
    const store = newStore()
    const more = await story(store)
    const before = await storedEvents(store)
    const bytes = JSON.stringify(before)
    const steps: ScriptedStep[] = [{ calls: [{ id: 'last', name: 'look' }] }, 'fine']
    const { runner, model } = startProcess(store, { tools, steps, ...more })
    const { text, events } = await sendMessage(runner, 'and now?')
    expect(text).toBe('fine')
    expect(finalResponses(events)).toMatchObject({ last: { found: true } })
    expect(model.requests.flatMap(({ contents }) => historyProblems(contents))).toEqual([])
    expect(JSON.stringify((await storedEvents(store)).slice(0, before.length))).toBe(bytes)
  })
})
