// A process that dies before or after any append is followed by another that goes on: nothing is lost, and nothing that
// may happen once happens twice. In memory, and in a file that the second process opens for itself.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Agent,
  agentTool,
  type Content,
  cached,
  concurrency,
  type Effect,
  type Event,
  InMemorySessionService,
  type JsonObject,
  LlmAgent,
  LoopAgent,
  type Model,
  ParallelAgent,
  Runner,
  redact,
  retry,
  SequentialAgent,
  type SessionService,
  timeout,
  tool,
} from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import { describe, expect, test } from 'vitest'

/** What happened in the outside world. */
type Ledger = { readonly tool: string; readonly key: string }[]
type Reply = string | { readonly name: string; readonly args?: JsonObject }[]

class Crash extends Error {}

/** Dies before or after its n-th append. */
function dying(
  store: SessionService,
  at: number,
  when: 'before' | 'after',
): { service: SessionService; count(): number } {
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
  return { service, count: () => appends }
}

/** A model that always says the same to the same history. */
function rule(reply: (said: { results: number; text: string }) => Reply): Model {
  return {
    name: 'rule',
    async *generate({ contents }) {
      const from = contents.findLastIndex(({ role }) => role === 'user')
      const since = contents.slice(from)
      const results = since.filter(({ role }) => role === 'tool').length
      const said = reply({ results, text: contents[from]?.parts[0]?.text ?? '' })
      const parts =
        typeof said === 'string' ? [{ text: said }] : said.map((call) => ({ functionCall: { args: {}, ...call } }))
      yield { content: { role: 'model', parts } satisfies Content }
    },
  }
}

function effectTool(name: string, effect: Effect, ledger: Ledger) {
  return tool({
    name,
    description: `does ${name}`,
    effect,
    ...(effect === 'reconcilable' && {
      reconcile: ({ idempotencyKey }) =>
        ledger.some(({ key }) => key === idempotencyKey)
          ? { status: 'done', result: { found: true } }
          : { status: 'not-done' },
    }),
    run: async (_args, context) => {
      ledger.push({ tool: name, key: context.idempotencyKey })
      context.state.set(name, true)
      return { ok: true }
    },
  })
}

const EFFECTS: Effect[] = ['none', 'idempotent', 'reconcilable', 'atMostOnce']

const shapes: { [name: string]: (ledger: Ledger) => Agent } = {
  'one call': (ledger) =>
    new LlmAgent({
      name: 'root',
      model: rule(({ results }) => (results === 0 ? [{ name: 'pay' }] : 'done')),
      tools: [effectTool('pay', 'atMostOnce', ledger)],
    }),
  'four calls beside each other, then one more': (ledger) =>
    new LlmAgent({
      name: 'root',
      model: rule(({ results }) =>
        results === 0 ? EFFECTS.map((name) => ({ name })) : results === 1 ? [{ name: 'none' }] : 'done',
      ),
      tools: EFFECTS.map((effect) => effectTool(effect, effect, ledger)),
    }),
  'agent tools three deep': (ledger) => {
    const inner = new LlmAgent({
      name: 'inner',
      model: rule(({ results }) => (results === 0 ? [{ name: 'pay' }] : 'paid')),
      tools: [effectTool('pay', 'atMostOnce', ledger)],
    })
    const middle = new LlmAgent({
      name: 'middle',
      model: rule(({ results }) =>
        results === 0
          ? [
              { name: 'inner', args: { request: 'a' } },
              { name: 'inner', args: { request: 'b' } },
            ]
          : 'both',
      ),
      tools: [agentTool(inner)],
    })
    return new LlmAgent({
      name: 'root',
      model: rule(({ results }) => (results === 0 ? [{ name: 'middle', args: { request: 'go' } }] : 'done')),
      tools: [agentTool(middle)],
    })
  },
  'an agent tool with policies, whose agent fails once': (ledger) => {
    const model: Model = {
      name: 'flaky',
      async *generate(request, options) {
        const asked = request.contents.filter(({ role }) => role === 'user').length
        if (asked === 1 && request.contents.some(({ role }) => role === 'tool')) throw new Error('overloaded')
        const steady = rule(({ results }) => (asked === 1 && results === 0 ? [{ name: 'pay' }] : 'paid'))
        yield* steady.generate(request, options)
      },
    }
    const inner = new LlmAgent({ name: 'inner', model, tools: [effectTool('pay', 'atMostOnce', ledger)] })
    const patient = retry(timeout(agentTool(inner), 60_000), { attempts: 2, delayMs: 0 })
    return new LlmAgent({
      name: 'root',
      model: rule(({ results }) => (results === 0 ? [{ name: 'inner', args: { request: 'go' } }] : 'done')),
      tools: [redact(cached(concurrency(patient, 1)), ['secret'])],
    })
  },
  'code that calls tools': (ledger) =>
    new LlmAgent({
      name: 'root',
      model: rule(({ results }) => (results === 0 ? '```js\npay twice\n```' : 'done')),
      codeExecutor: {
        languages: ['js'],
        callsTools: true,
        async execute({ callTool }) {
          for (let n = 0; n < 2; n++) await callTool?.('pay', {}).catch(() => {})
          await Promise.all([callTool?.('look', {}), callTool?.('look', {})])
          return { outcome: 'OK', output: 'paid' }
        },
      },
      tools: [effectTool('pay', 'atMostOnce', ledger), effectTool('look', 'none', ledger)],
    }),
  'a sequence with branches and a loop': (ledger) => {
    const worker = (name: string): LlmAgent =>
      new LlmAgent({
        name,
        model: rule(({ results }) => (results === 0 ? [{ name: `pay_${name}` }] : `${name} done`)),
        tools: [effectTool(`pay_${name}`, 'atMostOnce', ledger)],
        outputKey: name,
      })
    return new SequentialAgent({
      name: 'root',
      subAgents: [
        worker('first'),
        new ParallelAgent({ name: 'beside', subAgents: [worker('left'), worker('right')] }),
        new LoopAgent({ name: 'again', maxIterations: 2, subAgents: [worker('round')] }),
      ],
    })
  },
  'a transfer': (ledger) => {
    const clerk = new LlmAgent({
      name: 'clerk',
      model: rule(({ results }) => (results === 0 ? [{ name: 'pay' }] : 'done')),
      tools: [effectTool('pay', 'atMostOnce', ledger)],
    })
    return new LlmAgent({
      name: 'root',
      model: rule(() => [{ name: 'transfer_to_agent', args: { agent_name: 'clerk' } }]),
      subAgents: [clerk],
    })
  },
}

/** Where sessions are; opening it again is what another process would do. */
interface Place {
  open(): SessionService
  close(): void
}

const places: { [name: string]: () => Place } = {
  'in memory': () => {
    const service = new InMemorySessionService()
    return { open: () => service, close: () => {} }
  },
  'in a file': () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolwright-'))
    const opened: { close(): void }[] = []
    return {
      open() {
        const services = sqlite(join(folder, 'app.db'))
        opened.push(services)
        return services.sessionService
      },
      close() {
        for (const services of opened) services.close()
        rmSync(folder, { recursive: true })
      },
    }
  },
}

const home = { userId: 'ada', sessionId: 's' }
const quiet = { warn: () => {}, error: () => {} }

async function runUntilDead(shape: (ledger: Ledger) => Agent, store: SessionService, ledger: Ledger): Promise<void> {
  const runner = new Runner({ appName: 'app', agent: shape(ledger), sessionService: store, logger: quiet })
  await runner.complete({ ...home, message: 'go' }).catch((error) => {
    if (!(error instanceof Crash)) throw error
  })
}

/** A new process: new agents, the same store. */
async function goOn(shape: (ledger: Ledger) => Agent, store: SessionService, ledger: Ledger): Promise<void> {
  const runner = new Runner({ appName: 'app', agent: shape(ledger), sessionService: store, logger: quiet })
  try {
    for await (const _ of runner.resume(home));
  } catch (error) {
    if (error instanceof Crash) return
    if ((error as { code?: string }).code !== 'NOT_FOUND') throw error // it had ended, or never begun
  }
}

async function eventsOf(store: SessionService): Promise<readonly Event[]> {
  return (await store.getSession({ appName: 'app', ...home }))?.events ?? []
}

function audit(events: readonly Event[], ledger: Ledger): void {
  const responses = new Map<string, number>()
  const calls: string[] = []
  for (const event of events) {
    for (const part of event.content?.parts ?? []) {
      if (part.functionCall) calls.push(part.functionCall.id ?? '')
      const id = part.functionResponse?.id ?? ''
      if (part.functionResponse) responses.set(id, (responses.get(id) ?? 0) + 1)
    }
  }
  expect(new Set(calls).size, 'call ids are unique').toBe(calls.length)
  for (const id of calls) expect(responses.get(id), `responses to ${id}`).toBe(1)
  expect(responses.size).toBe(calls.length)
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
  expect(new Set(events.map(({ invocationId }) => invocationId)).size, 'one invocation').toBe(1)
  const once = ledger.filter(({ tool: name }) => !['none', 'idempotent', 'look'].includes(name)).map(({ key }) => key)
  expect(new Set(once).size, 'no effect twice').toBe(once.length)
}

describe.each(Object.entries(places))('%s [PR-01]', (_place, make) => {
  test.each(Object.entries(shapes))('%s survives a crash before and after every append', async (_name, shape) => {
    const whole: Ledger = []
    const undisturbed = make()
    const healthy = dying(undisturbed.open(), Number.POSITIVE_INFINITY, 'before')
    await runUntilDead(shape, healthy.service, whole)
    const expected = await eventsOf(healthy.service)
    undisturbed.close()
    audit(expected, whole)
    const steps = healthy.count()
    expect(steps).toBeGreaterThan(4)
    let unknown = 0
    for (let at = 1; at <= steps; at++) {
      for (const when of ['before', 'after'] as const) {
        const ledger: Ledger = []
        const place = make()
        await runUntilDead(shape, dying(place.open(), at, when).service, ledger)
        const store = place.open()
        await goOn(shape, store, ledger)
        const events = await eventsOf(store)
        place.close()
        if (events.length === 0) {
          expect([at, when]).toEqual([1, 'before']) // the message itself was not recorded
          continue
        }
        audit(events, ledger)
        const last = events.at(-1)
        const said = expected.at(-1)?.content?.parts[0]?.text
        expect(last?.content?.parts[0]?.text, `the last word after ${at} ${when}`).toBe(said)
        if (JSON.stringify(events).includes('unknown_outcome')) unknown++
      }
    }
    expect(unknown, 'a death between intent and response is told honestly').toBeGreaterThan(0)
  })

  test('a crash of the crash: dying again and again still ends', async () => {
    const shape = shapes['a sequence with branches and a loop'] as (ledger: Ledger) => Agent
    const ledger: Ledger = []
    const place = make()
    await runUntilDead(shape, dying(place.open(), 3, 'after').service, ledger)
    for (let round = 0; round < 60; round++) await goOn(shape, dyingOnce(place.open()), ledger)
    await goOn(shape, place.open(), ledger)
    const events = await eventsOf(place.open())
    place.close()
    audit(events, ledger)
    expect(events.at(-1)?.content?.parts[0]?.text).toBe('round done')
  })
})

/** One append is let through, the next is the end. */
function dyingOnce(store: SessionService): SessionService {
  const { service } = dying(store, 2, 'before')
  return service
}
