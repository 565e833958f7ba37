import { InMemorySessionService, LlmAgent, Runner, retry, tool } from 'toolwright'
import { otel } from 'toolwright/otel'
import { createServer } from 'toolwright/server'
import { scriptedModel } from 'toolwright/testing'
import { expect, test, vi } from 'vitest'
import { registerSdk } from '../../../adapters/otel/exported.test-kit.ts'
import { METRICS, type MetricFacts } from '../../../engine/observe/metrics/metric-table.ts'
import { approve } from '../../../engine/runner/approvals/answer-parts.ts'
import { silent } from '../edge.test-kit.ts'

const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 7 }
const add = tool({ name: 'add', description: 'Adds', effect: 'none', run: () => ({ sum: 3 }) })
const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run: () => ({ paid: true }) })
let attempts = 0
const flaky = tool({
  name: 'flaky',
  description: 'Fails at first',
  effect: 'none',
  run: () => {
    if (++attempts % 2) throw new Error('secret')
    return {}
  },
})
const call = (name: string, args = {}) => ({ calls: [{ name, args }], response: { usageMetadata } })

/** Runs a conversation with all kinds of operations. */
async function converse(runner: Runner): Promise<void> {
  const session = { userId: 'ada-lovelace', sessionId: 's-canary' }
  const { pending } = await runner.complete({ ...session, message: 'canary' })
  await runner.complete({ ...session, message: pending.map((one) => approve(one)) })
}

function runnerOf(observers = [otel()]): Runner {
  const script = [call('add', { text: 'canary' }), call('flaky'), call('no_such_canary'), call('pay'), 'The canary.']
  const tools = [add, pay, retry(flaky, { attempts: 2, delayMs: 0 })]
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel(script), tools })
  return new Runner({ appName: 'shop', agent, observers, logger: silent })
}

/** The samples of `/metrics`, by name and labels. */
async function scrape(server: ReturnType<typeof createServer>): Promise<Map<string, number>> {
  const headers = { authorization: `Bearer ${server.token}` }
  const text = await (await server.fetch(new Request('http://localhost/metrics', { headers }))).text()
  for (const line of text.trimEnd().split('\n')) expect(line).toMatch(/^(# (HELP|TYPE) |\w+(\{[^{}]*\})? [\d.e+-]+$)/)
  const samples = text.split('\n').filter((line) => line && !line.startsWith('#'))
  return new Map(samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]))
}

test('/metrics shows the figures that OpenTelemetry gets', async () => {
  const { points } = registerSdk()
  const runner = runnerOf()
  const server = createServer({ apps: { shop: runner }, metrics: true, logger: silent })
  await converse(runner)
  const samples = await scrape(server)
  let compared = 0
  for (const { name, unit, buckets } of Object.values<MetricFacts>(METRICS)) {
    const base = name.replaceAll('.', '_') + (unit === 's' ? '_seconds' : '')
    for (const { attributes, value } of buckets ? await points(name) : []) {
      if (typeof value === 'number') throw new Error(`${name} is no histogram.`)
      const labels = Object.entries(attributes).map(([label, text]) => `${label.replaceAll('.', '_')}="${text}"`)
      const suffix = labels.length ? `{${labels.join(',')}}` : ''
      expect([base, suffix, samples.get(`${base}_count${suffix}`)]).toEqual([base, suffix, value.count])
      if (unit !== 's') expect(samples.get(`${base}_sum${suffix}`)).toBe(value.sum)
      const infinite = `${base}_bucket{${[...labels, 'le="+Inf"'].join(',')}}`
      expect(samples.get(infinite)).toBe(value.count)
      for (const bound of value.buckets.boundaries)
        expect(samples.has(infinite.replace('le="+Inf"', `le="${bound}"`))).toBe(true)
      compared++
    }
  }
  expect(compared).toBeGreaterThan(10)
  expect(samples.get('toolwright_lease_takeovers_total')).toBe(0)
})

test('/metrics has the names of Prometheus, and nothing of users', async () => {
  const runner = runnerOf([])
  const server = createServer({ apps: { shop: runner }, metrics: true, logger: silent })
  await converse(runner)
  const samples = await scrape(server)
  const about = 'gen_ai_operation_name="chat",gen_ai_provider_name="unknown",gen_ai_request_model="scripted"'
  expect(samples.get(`gen_ai_client_token_usage_sum{${about},gen_ai_token_type="input"}`)).toBe(400)
  expect(samples.get(`gen_ai_client_operation_duration_seconds_count{${about}}`)).toBe(5)
  const tool = (name: string, error = ''): string =>
    `gen_ai_execute_tool_duration_seconds_count{gen_ai_operation_name="execute_tool",gen_ai_tool_name="${name}"${error}}`
  expect(samples.get(tool('add'))).toBe(1)
  expect(samples.get(tool('flaky', ',error_type="EXECUTION_FAILED"'))).toBe(1)
  expect(samples.get(tool('flaky'))).toBe(1)
  expect(samples.get(tool('_OTHER', ',error_type="NOT_FOUND"'))).toBe(1)
  const agent = '{gen_ai_operation_name="invoke_agent",gen_ai_agent_name="desk"}'
  expect(samples.get(`gen_ai_invoke_agent_inference_calls_sum${agent}`)).toBe(5)
  expect(samples.get(`gen_ai_invoke_agent_tool_calls_sum${agent}`)).toBe(4)
  expect(
    samples.get('toolwright_approval_wait_seconds_count{gen_ai_tool_name="pay",toolwright_outcome="completed"}'),
  ).toBe(1)
  expect(samples.get('toolwright_store_append_duration_seconds_count')).toBeGreaterThan(5)
  expect([...samples.keys()].join('\n')).not.toMatch(/canary|lovelace|secret/)
})

test('a session that was taken over is counted, with the time its work rested', async () => {
  let clock = Date.now()
  const now = (): number => clock
  const sessionService = new InMemorySessionService({ now })
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel(['Hello.']) })
  const runner = new Runner({ appName: 'shop', agent, sessionService, ports: { now }, logger: silent })
  const server = createServer({ apps: { shop: runner }, metrics: true, logger: silent })
  const key = { appName: 'shop', userId: 'ada', sessionId: 's1' }
  await sessionService.createSession(key)
  const lease = await sessionService.claim(key)
  const content = { role: 'user' as const, parts: [{ text: 'Hi' }] }
  const message = { id: 'm1', invocationId: 'e-1', author: 'user', timestamp: clock / 1000, actions: {}, content }
  await sessionService.append(lease, 0, [{ event: message }])
  clock += 60_000 // its process is dead
  for (const run of await runner.recover()) for await (const _ of run);
  const samples = await scrape(server)
  expect(samples.get('toolwright_lease_takeovers_total')).toBe(1)
  expect(samples.get('toolwright_recovery_duration_seconds_sum')).toBe(60)
})

test('the age of an inbox is that of its oldest item when a worker takes it, once', async () => {
  const { points } = registerSdk()
  let clock = Date.now()
  const now = (): number => clock
  const sessionService = new InMemorySessionService({ now })
  const options = {
    appName: 'shop',
    sessionService,
    ports: { now, monotonicNow: () => performance.now() },
    logger: silent,
  }
  const web = new Runner({ ...options, agent: new LlmAgent({ name: 'desk', model: scriptedModel([]) }) })
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel(() => 'Hello.') })
  const worker = new Runner({ ...options, agent, observers: [otel()] })
  const server = createServer({ apps: { shop: worker }, metrics: true, logger: silent })
  const session = { userId: 'ada', sessionId: 's1' }
  await web.submit({ ...session, message: 'Hi.' })
  clock += 40_000
  await web.submit({ ...session, message: 'Are you there?' })
  clock += 5_000
  const stop = new AbortController()
  const working = worker.work({ signal: stop.signal, pollMs: 10 })
  const ages = async (): Promise<(number | undefined)[]> => {
    const samples = await scrape(server)
    return ['count', 'sum'].map((part) => samples.get(`toolwright_inbox_age_seconds_${part}`))
  }
  await expect.poll(ages).toEqual([2, 45 + 5]) // the second message waited for the end of the first
  stop.abort()
  await working
  expect(await points('toolwright.inbox.age')).toMatchObject([{ attributes: {}, value: { count: 2, sum: 50 } }])
})

test('an item of an older version, which does not say when it was posted, is not measured', async () => {
  const sessionService = new InMemorySessionService()
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel(['Hello.']) })
  const runner = new Runner({ appName: 'shop', agent, sessionService, logger: silent })
  const server = createServer({ apps: { shop: runner }, metrics: true, logger: silent })
  const key = { appName: 'shop', userId: 'ada', sessionId: 's1' }
  await sessionService.createSession(key)
  await sessionService.post(key, { id: 'i1', type: 'state', stateDelta: { city: 'Oslo' } })
  await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Hi.' })
  expect((await sessionService.getSession(key))?.state).toEqual({ city: 'Oslo' })
  expect((await scrape(server)).get('toolwright_inbox_age_seconds_count')).toBeUndefined()
})

test('201 tools are 200 names and _OTHER', async () => {
  const tools = Array.from({ length: 201 }, (_, at) => {
    return tool({ name: `tool_${at}`, description: 'One', effect: 'none', run: () => ({}) })
  })
  const calls = tools.map(({ name }) => ({ name }))
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel([{ calls }, 'Done.']), tools })
  const runner = new Runner({ appName: 'shop', agent, logger: silent, maxCallsPerReply: 300 })
  const server = createServer({ apps: { shop: runner }, metrics: true, logger: silent })
  await runner.complete({ userId: 'ada', message: 'All.' })
  const counts = [...(await scrape(server)).keys()].filter((key) =>
    key.startsWith('gen_ai_execute_tool_duration_seconds_count'),
  )
  expect(counts).toHaveLength(201)
  expect(counts.filter((key) => key.includes('_OTHER'))).toHaveLength(1)
})

test('without `metrics`, runs are not observed', async () => {
  const runner = runnerOf([])
  const observe = vi.spyOn(runner.internals, 'observe')
  const server = createServer({ apps: { shop: runner }, logger: silent })
  await converse(runner)
  expect(observe).not.toHaveBeenCalled()
  expect([...(await scrape(server)).keys()].filter((key) => key.startsWith('gen_ai'))).toEqual([])
  createServer({ apps: { shop: runner }, metrics: true, logger: silent })
  expect(observe).toHaveBeenCalledTimes(1)
})
