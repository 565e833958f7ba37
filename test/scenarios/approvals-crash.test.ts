// A process dies before or after any append of an invocation with pending requests, and other processes continue.
// No call runs without an approval or twice, and no confirmation is requested twice.
import {
  type Agent,
  agentTool,
  approve,
  type Content,
  deny,
  type Event,
  type JsonObject,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  type PendingRequest,
  respond,
  SequentialAgent,
  type SessionService,
  tool,
} from 'toolwright'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { runnerOf, storedEvents, stores, where } from './approvals-kit.ts'

class Crash extends Error {}

/** A store that fails at its n-th append and at every later append. */
function dying(store: SessionService, at: number, when: 'before' | 'after') {
  let appends = 0
  const service = new Proxy(store, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member)
      if (typeof value !== 'function') return value
      if (member !== 'append') return value.bind(target)
      return async (...args: unknown[]) => {
        appends++
        if (appends >= at && when === 'before') throw new Crash()
        const result: unknown = await value.apply(target, args)
        if (appends >= at) throw new Crash()
        return result
      }
    },
  })
  return { service, count: () => appends, isDead: () => appends >= at }
}

/** A model that replies the same to the same history. */
function rule(reply: (results: number) => string | { name: string; args?: JsonObject }[]) {
  return {
    name: 'rule',
    async *generate({ contents }: { contents: readonly Content[] }) {
      const since = contents.slice(contents.findLastIndex(({ role }) => role === 'user'))
      const next = reply(since.filter(({ role }) => role === 'tool').length)
      const parts =
        typeof next === 'string' ? [{ text: next }] : next.map((call) => ({ functionCall: { args: {}, ...call } }))
      yield { content: { role: 'model', parts } satisfies Content }
    },
  }
}

type Ledger = string[]

const pay = (ledger: Ledger) =>
  tool({
    name: 'pay',
    description: 'Pay',
    parameters: z.object({ to: z.string().default('x') }),
    requiresConfirmation: true,
    run: (_args, context) => {
      ledger.push(context.functionCallId)
      return { ok: true }
    },
  })
const look = tool({ name: 'look', description: 'Look', effect: 'none', run: () => ({ seen: true }) })
const name = (ledger: Ledger) =>
  tool({
    name: 'name',
    description: 'Name',
    run: (_args, context) => {
      const given = context.requestInput<string>({ key: 'name', message: 'Name?', schema: z.string() })
      if (given !== undefined) ledger.push(context.functionCallId)
      return { given }
    },
  })
const worker = (agentName: string, ledger: Ledger) =>
  new LlmAgent({
    name: agentName,
    tools: [pay(ledger)],
    model: rule((n) => (n ? `${agentName} done` : [{ name: 'pay' }])),
  })

const shapes: [string, (ledger: Ledger) => Agent][] = [
  ['a single call', (ledger) => worker('root', ledger)],
  [
    'a batch of calls and a second reply',
    (ledger) =>
      new LlmAgent({
        name: 'root',
        tools: [pay(ledger), look, name(ledger)],
        model: rule((n) =>
          n === 0
            ? [
                { name: 'pay', args: { to: 'a' } },
                { name: 'look' },
                { name: 'name' },
                { name: 'pay', args: { to: 'no' } },
              ]
            : n === 1
              ? [{ name: 'pay', args: { to: 'b' } }]
              : 'done',
        ),
      }),
  ],
  [
    'two nested agent tools',
    (ledger) => {
      const ask = (to: string) => rule((n) => (n ? 'back' : [{ name: to, args: { request: 'go' } }]))
      const middle = new LlmAgent({ name: 'middle', model: ask('leaf'), tools: [agentTool(worker('leaf', ledger))] })
      return new LlmAgent({ name: 'root', model: ask('middle'), tools: [agentTool(middle)] })
    },
  ],
  [
    'a sequence of a parallel agent and a loop',
    (ledger) =>
      new SequentialAgent({
        name: 'root',
        subAgents: [
          new ParallelAgent({ name: 'beside', subAgents: [worker('left', ledger), worker('right', ledger)] }),
          new LoopAgent({ name: 'again', maxIterations: 2, subAgents: [worker('round', ledger)] }),
        ],
      }),
  ],
  [
    'code that calls tools',
    (ledger) =>
      new LlmAgent({
        name: 'root',
        tools: [pay(ledger), look],
        model: {
          name: 'rule',
          async *generate({ contents }) {
            const isBack = JSON.stringify(contents.at(-1)).includes('codeExecutionResult')
            yield { content: { role: 'model', parts: [{ text: isBack ? 'done' : '```js\npay\n```' }] } }
          },
        },
        codeExecutor: {
          languages: ['js'],
          callsTools: true,
          requiresConfirmation: true,
          async execute({ callTool }) {
            await callTool?.('look', {})
            await callTool?.('pay', {}).catch(() => {})
            return { outcome: 'OK', output: 'paid' }
          },
        },
      }),
  ],
]

/** Answers each request the same in every process. */
function reply(request: PendingRequest) {
  if (request.kind === 'input') return respond(request, 'Ada')
  return request.args.to === 'no' ? deny(request) : approve(request)
}

/** Runs the invocation to its end with a new process for each step; the process that reaches the n-th append dies. */
async function drive(
  shape: (ledger: Ledger) => Agent,
  store: SessionService,
  ledger: Ledger,
  at: number,
  when: 'before' | 'after',
) {
  const killer = dying(store, at, when)
  const step = async (act: (runner: ReturnType<typeof runnerOf>) => Promise<unknown>): Promise<boolean> => {
    try {
      await act(runnerOf(killer.isDead() ? store : killer.service, shape(ledger)))
      return true
    } catch (error) {
      if (error instanceof Crash) return true
      if ((error as { code?: string }).code === 'NOT_FOUND') return false
      throw error
    }
  }
  while ((await storedEvents(store)).length === 0) await step((runner) => runner.complete({ ...where, message: 'go' }))
  for (let steps = 0; steps < 60; steps++) {
    const isOpen = await step(async (runner) => {
      for await (const _ of runner.resume(where));
    })
    if (!isOpen) return killer.count()
    const [request] = await runnerOf(store, shape(ledger)).pending(where)
    if (request) await step((runner) => runner.complete({ ...where, message: [reply(request)] }))
  }
  throw new Error('it never ends')
}

function audit(events: readonly Event[], ledger: Ledger, at: string): void {
  const parts = events.flatMap(({ content, author }) => (content?.parts ?? []).map((part) => ({ ...part, author })))
  const calls = parts.flatMap(({ functionCall }) => functionCall ?? [])
  const answers = parts.flatMap(({ functionResponse }) => functionResponse ?? [])
  for (const { id } of calls)
    expect(
      answers.filter((one) => one.id === id),
      `${at}: answers to ${id}`,
    ).toHaveLength(1)
  expect(new Set(ledger).size, `${at}: side effects once`).toBe(ledger.length)
  const questions = calls.filter(({ name: called }) => called === 'adk_request_confirmation')
  const about = questions.map(({ args }) => (args.originalFunctionCall as { id: string }).id)
  expect(new Set(about).size, `${at}: confirmations once`).toBe(about.length)
  for (const done of ledger) {
    const which = calls.find(({ id }) => id === done)
    if (which?.name !== 'pay') continue
    const { id } = questions[about.indexOf(done)] ?? {}
    expect(answers.find((one) => one.id === id)?.response, `${at}: an approval of ${done}`).toEqual({ confirmed: true })
  }
  expect(new Set(events.map(({ invocationId }) => invocationId)).size, at).toBe(1)
}

describe.each(stores)('the runner with sessions %s', { timeout: 120_000 }, (_, newStore) => {
  test.each(shapes)(
    'loses and repeats nothing when a process dies at any append of %s [PR-01]',
    async (_name, shape) => {
      const healthy = newStore()
      const whole: Ledger = []
      const appends = await drive(shape, healthy, whole, Number.POSITIVE_INFINITY, 'before')
      const expected = await storedEvents(healthy)
      audit(expected, whole, 'without a crash')
      expect(whole.length).toBeGreaterThan(0)
      for (let at = 1; at <= appends; at++) {
        for (const when of ['before', 'after'] as const) {
          const store = newStore()
          const ledger: Ledger = []
          await drive(shape, store, ledger, at, when)
          const events = await storedEvents(store)
          audit(events, ledger, `${when} ${at}`)
          expect(events.at(-1)?.content?.parts[0]?.text).toBe(expected.at(-1)?.content?.parts[0]?.text)
          expect(await runnerOf(store, shape(ledger)).pending()).toEqual([])
          if (!JSON.stringify(events).includes('UNKNOWN_OUTCOME')) expect(ledger.length).toBe(whole.length)
        }
      }
    },
  )
})
