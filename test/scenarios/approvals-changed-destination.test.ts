// An answer after a deploy that sends the approved call somewhere else: to another path, host, server or agent.
import { createHash } from 'node:crypto'
import {
  agentTool,
  approve,
  confirm,
  filterTools,
  LlmAgent,
  type LlmAgentOptions,
  prefixTools,
  SequentialAgent,
  StaticToolset,
  type Tool,
  timeout,
  tool,
  toolSource,
} from 'toolwright'
import { McpToolset, type McpToolsetOptions, serveMcp } from 'toolwright/mcp'
import { OpenApiToolset } from 'toolwright/openapi'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { inlineServer, listedTool } from '../mcp/inline-server.ts'
import { finalResponses, requestFor, sendMessage, startProcess, stores, where } from './approvals-kit.ts'
import { silentLogger } from './kit.ts'

type Tools = LlmAgentOptions['tools']

describe.each(stores)('the runner with sessions %s', (_, newStore) => {
  /** Calls a tool in one process and approves the call in the next one. Returns what the second process did. */
  async function approveAfterDeploy(call: ScriptedStep, before: Tools, after: Tools) {
    const store = newStore()
    const first = startProcess(store, { tools: before, steps: [call] })
    const request = requestFor((await sendMessage(first.runner)).pending)
    await first.runner.close()
    const second = startProcess(store, { tools: after, steps: ['done'] })
    const answered = await sendMessage(second.runner, [approve(request)])
    return { store, request, second, answered }
  }

  describe('with an OpenAPI document', () => {
    const archive: ScriptedStep = { calls: [{ id: 'c1', name: 'archive_pet', args: { id: '7' } }] }

    test.each<[string, Partial<DocumentParts>]>([
      ['another path', { path: '/accounts/{id}/close' }],
      ['another host', { server: 'https://evil.example' }],
      ['another base path', { server: 'https://pets.example.com/admin' }],
      ['another method', { method: 'delete' }],
      ['another place of a field', { path: '/pets/archive', place: 'query' }],
      ['a body instead of a path', { path: '/pets/archive', place: 'body' }],
    ])('sends nothing to %s without another approval', async (_name, change) => {
      const before = pets()
      const after = pets(change)
      const { second, answered } = await approveAfterDeploy(archive, [before.toolset], [after.toolset])
      expect([...before.sent, ...after.sent]).toEqual([])
      expect(requestFor(answered.pending).hint).toContain('DEFINITION_CHANGED')
      const { text } = await sendMessage(second.runner, [approve(requestFor(answered.pending))])
      expect(text).toBe('done')
      expect(after.sent).toHaveLength(1)
    })

    test('answers DEFINITION_CHANGED when the document changes a second time', async () => {
      const { store, answered } = await approveAfterDeploy(
        archive,
        [pets().toolset],
        [pets({ path: '/a/{id}' }).toolset],
      )
      const third = pets({ path: '/b/{id}' })
      const { runner } = startProcess(store, { tools: [third.toolset], steps: ['done'] })
      const { events } = await sendMessage(runner, [approve(requestFor(answered.pending))])
      expect(finalResponses(events).c1).toMatchObject({ errorCode: 'DEFINITION_CHANGED' })
      expect(third.sent).toEqual([])
    })

    test('binds an approval through prefixes, filters and policies', async () => {
      const wrap = (toolset: OpenApiToolset) => prefixTools(filterTools(toolset, ['archive_pet']), 'p_')
      const call: ScriptedStep = { calls: [{ id: 'c1', name: 'p_archive_pet', args: { id: '7' } }] }
      const after = pets({ server: 'https://evil.example' })
      const { answered } = await approveAfterDeploy(call, [wrap(pets().toolset)], [wrap(after.toolset)])
      expect(requestFor(answered.pending).hint).toContain('DEFINITION_CHANGED')
      expect(after.sent).toEqual([])
    })

    test('sends the approved call when only texts of the document have changed', async () => {
      const after = pets({ description: 'Put a pet into the archive' })
      const { answered } = await approveAfterDeploy(archive, [pets().toolset], [after.toolset])
      expect(answered.text).toBe('done')
      expect(after.sent).toEqual(['POST https://pets.example.com/pets/7/archive'])
    })
  })

  describe('with an MCP server', () => {
    const pay: ScriptedStep = { calls: [{ id: 'c1', name: 'pay', args: { amount: 5 } }] }

    test('calls no server at another URL without another approval', async () => {
      await using one = await paymentServer()
      await using other = await paymentServer()
      const { second, answered } = await approveAfterDeploy(pay, [one.toolset()], [other.toolset()])
      expect([...one.paid, ...other.paid]).toEqual([])
      await sendMessage(second.runner, [approve(requestFor(answered.pending))])
      expect([...one.paid, ...other.paid]).toEqual([5])
      await second.runner.close()
    })

    test('calls no other server at the same URL without another approval', async () => {
      await using one = await paymentServer()
      await using other = await paymentServer('other-bank')
      const { answered, second } = await approveAfterDeploy(pay, [one.toolsetAt(SAME)], [other.toolsetAt(SAME)])
      expect(requestFor(answered.pending).hint).toContain('DEFINITION_CHANGED')
      expect([...one.paid, ...other.paid]).toEqual([])
      await second.runner.close()
    })

    test('calls the approved server with other headers, and records neither URL nor headers', async () => {
      await using server = await paymentServer()
      const before = server.toolset({ headers: () => ({ 'x-key': 'canary-1' }) }, '?key=canary-2')
      const after = server.toolset({ headers: () => ({ 'x-key': 'canary-3' }) }, '?key=canary-2')
      const { store, second, answered } = await approveAfterDeploy(pay, [before], [after])
      expect(answered.text).toBe('done')
      expect(server.paid).toEqual([5])
      await second.runner.close()
      const lease = await store.claim({ appName: 'app', ...where })
      const { entries } = await store.read(lease)
      expect(JSON.stringify(entries)).not.toContain('canary')
    })

    test('starts a local server with other arguments and asks again', async () => {
      const { answered, second } = await approveAfterDeploy(pay, [localServer('one')], [localServer('two')])
      expect(requestFor(answered.pending).hint).toContain('DEFINITION_CHANGED')
      const { events } = await sendMessage(second.runner, [approve(requestFor(answered.pending))])
      expect(finalResponses(events).c1).toMatchObject({ text: 'paid by two' })
      await second.runner.close()
    })

    test('runs the approved call of a local server with the same arguments', async () => {
      const { answered, second } = await approveAfterDeploy(pay, [localServer('one')], [localServer('one')])
      expect(finalResponses(answered.events).c1).toMatchObject({ text: 'paid by one' })
      await second.runner.close()
    })
  })

  describe('with an agent tool', () => {
    const help: ScriptedStep = { calls: [{ id: 'c1', name: 'help', args: { request: 'Pay Ada' } }] }
    const run = (sendsTo: Tool['sendsTo'], parameters = z.object({ amount: z.number() })) =>
      tool({ name: 'pay', description: 'Pay', parameters, sendsTo, run: () => 'paid' })
    const helper = (tools: Tools, more: Partial<LlmAgentOptions> = {}) =>
      new LlmAgent({ name: 'helper', model: scriptedModel(['helped']), tools, ...more })
    const gated = (agent: Parameters<typeof agentTool>[0]) => confirm(agentTool(agent, { name: 'help' }))

    test.each<[string, Tools]>([
      ['has another tool', [tool({ name: 'wire', description: 'Wire', run: () => 'wired' })]],
      ['has other parameters', [run('bank', z.object({ amount: z.number().max(9) }) as never)]],
      ['sends somewhere else', [run('evil')]],
      ['has one more tool', [run('bank'), tool({ name: 'wire', description: 'Wire', run: () => 'wired' })]],
      ['has a toolset', [run('bank'), new StaticToolset([tool({ name: 'wire', description: 'Wire', run: () => 1 })])]],
      ['has an agent tool', [run('bank'), agentTool(helper([], { name: 'deep' }))]],
    ])('asks again when the agent %s', async (_name, tools) => {
      const { answered } = await approveAfterDeploy(help, [gated(helper([run('bank')]))], [gated(helper(tools))])
      expect(requestFor(answered.pending).hint).toContain('DEFINITION_CHANGED')
    })

    test.each<[string, (inner: LlmAgent) => ConstructorParameters<typeof SequentialAgent>[0]['subAgents'][number]]>([
      ['an agent tool', (inner) => helper([agentTool(inner)])],
      ['a sub-agent', (inner) => helper([], { subAgents: [inner] })],
      ['a child of a sequence', (inner) => new SequentialAgent({ name: 'helper', subAgents: [inner] })],
    ])('asks again when a tool of %s of the agent has changed', async (_name, around) => {
      const inner = (place: string) => around(helper([run(place)], { name: 'inner' }))
      const { answered } = await approveAfterDeploy(help, [gated(inner('bank'))], [gated(inner('evil'))])
      expect(requestFor(answered.pending).hint).toContain('DEFINITION_CHANGED')
    })

    test('asks again when the document of its OpenAPI toolset has changed', async () => {
      const before = gated(helper([pets().toolset]))
      const after = gated(helper([pets({ server: 'https://evil.example' }).toolset]))
      const { answered } = await approveAfterDeploy(help, [before], [after])
      expect(requestFor(answered.pending).hint).toContain('DEFINITION_CHANGED')
    })

    test('runs the approved agent when only texts and the order of its tools have changed', async () => {
      const other = tool({ name: 'other', description: 'Other', run: () => 1 })
      const before = helper([run('bank'), other], { instruction: 'Pay.' })
      const after = helper([other, timeout(run('bank'), 500)], { instruction: 'Pay at once.', description: 'Pays' })
      const { answered } = await approveAfterDeploy(help, [gated(before)], [gated(after)])
      expect(answered.text).toBe('done')
    })

    test('asks for agents that call each other, and runs them', async () => {
      const pair = () => {
        const one: LlmAgent = helper([toolSource(() => [agentTool(two)], { name: 'others' })])
        const two: LlmAgent = helper([toolSource(() => [agentTool(one)], { name: 'others' })], { name: 'two' })
        return gated(one)
      }
      const { answered } = await approveAfterDeploy(help, [pair()], [pair()])
      expect(answered.text).toBe('done')
    })
  })

  describe('with sendsTo of a tool', () => {
    const call: ScriptedStep = { calls: [{ id: 'c1', name: 'pay', args: {} }] }
    const pay = (sendsTo: Tool['sendsTo'], paid: unknown[] = []) =>
      timeout(
        tool({ name: 'pay', description: 'Pay', requiresConfirmation: true, sendsTo, run: () => paid.push(sendsTo) }),
        5_000,
      )

    test.each<[string, Tool['sendsTo'], Tool['sendsTo']]>([
      ['a text', 'https://bank.example', 'https://evil.example'],
      ['an object', { host: 'bank' }, { host: 'evil' }],
      ['a function', () => 'bank', async () => 'evil'],
      ['a new member', undefined, 'evil'],
    ])('asks again when %s has changed', async (_name, before, after) => {
      const paid: unknown[] = []
      const { answered } = await approveAfterDeploy(call, [pay(before)], [pay(after, paid)])
      expect(requestFor(answered.pending).hint).toContain('DEFINITION_CHANGED')
      expect(paid).toEqual([])
    })

    test('runs the approved call when it is the same', async () => {
      const { answered } = await approveAfterDeploy(call, [pay(() => ({ host: 'bank' }))], [pay({ host: 'bank' })])
      expect(answered.text).toBe('done')
    })

    test.each<[string, unknown, unknown]>([
      ['query parameters', new URLSearchParams('bank=1'), new URLSearchParams('bank=2')],
      ['a request', new Request('https://bank.example'), new Request('https://evil.example')],
      ['an instance with private state', new Client('bank'), new Client('evil')],
      ['a function in the data', { host: () => 'bank' }, { host: () => 'evil' }],
      ['numbers without a JSON form', { port: Number.NaN }, { port: Number.POSITIVE_INFINITY }],
      ['a text in the middle of megabytes', longPlace('bank'), longPlace('evil')],
    ])(
      'never runs the call when the function returns %s, whose change cannot be seen',
      async (_name, before, after) => {
        const paid: unknown[] = []
        const { second, answered } = await approveAfterDeploy(call, [pay(() => before)], [pay(() => after, paid)])
        const { events } = await sendMessage(second.runner, [approve(requestFor(answered.pending))])
        expect(finalResponses(events).c1).toMatchObject({ errorCode: 'DEFINITION_CHANGED' })
        expect(paid).toEqual([])
      },
    )

    test('refuses data whose change cannot be seen when the tool is built', () => {
      // the cast is what JavaScript callers do
      for (const place of [new Client('bank'), new URLSearchParams('a=1'), { host: () => 'bank' }, Number.NaN])
        expect(() => pay(place as unknown as string)).toThrow(/sendsTo must be data/)
    })

    test.each<[string, unknown]>([
      ['a URL', new URL('https://bank.example/pay')],
      ['nested data', { hosts: [{ name: 'bank', port: 443, backup: null }], since: new Date(0) }],
      ['a map', new Map([['host', 'bank']])],
    ])('runs the approved call when %s is the same', async (_name, place) => {
      const { answered } = await approveAfterDeploy(call, [pay(() => place)], [pay(place as string)])
      expect(answered.text).toBe('done')
    })

    test('asks again when the data was changed in place, as a configuration that is read again', async () => {
      const place = { host: 'bank' }
      const paid: unknown[] = []
      const { runner } = startProcess(newStore(), { tools: [pay(place, paid)], steps: [call, 'done'] })
      const { pending } = await sendMessage(runner)
      place.host = 'evil'
      const answered = await sendMessage(runner, [approve(requestFor(pending))])
      expect(requestFor(answered.pending).hint).toContain('DEFINITION_CHANGED')
      expect(paid).toEqual([])
      const confirmed = await sendMessage(runner, [approve(requestFor(answered.pending))])
      expect(confirmed.text).toBe('done')
      expect(paid).toEqual([{ host: 'evil' }])
    })

    test('refuses a misspelled sendsTo of a tool that was written without tool()', () => {
      const misspelled = { ...pay('bank'), sendsTo: undefined, sendTo: 'bank' }
      expect(() => startProcess(newStore(), { tools: [misspelled], steps: [] })).toThrow(/Did you mean "sendsTo"/)
    })

    test('never runs the call when the function fails', async () => {
      const paid: unknown[] = []
      const broken = () => {
        throw new Error('no network')
      }
      const { second, answered } = await approveAfterDeploy(call, [pay(broken)], [pay(broken, paid)])
      const { events } = await sendMessage(second.runner, [approve(requestFor(answered.pending))])
      expect(finalResponses(events).c1).toMatchObject({ errorCode: 'DEFINITION_CHANGED' })
      expect(paid).toEqual([])
    })
  })

  test('keeps the digest of earlier versions for a tool without sendsTo', async () => {
    const store = newStore()
    const refund = tool({ name: 'refund', description: 'Refund', requiresConfirmation: true, run: () => 'refunded' })
    const { runner } = startProcess(store, { tools: [refund], steps: [{ calls: [{ id: 'c1', name: 'refund' }] }] })
    await sendMessage(runner)
    const { entries } = await store.read(await store.claim({ appName: 'app', ...where }))
    const [record] = entries.flatMap(({ record }) => (record?.type === 'request' ? [record] : []))
    const earlier =
      '{"effect":"atMostOnce","gate":true,"isLongRunning":false,"name":"refund","parameters":null,"scheme":null}'
    expect(JSON.stringify(record)).toContain(createHash('sha256').update(earlier).digest('hex'))
  })
})

class Client {
  readonly #host: string

  constructor(host: string) {
    this.#host = host
  }

  get host(): string {
    return this.#host
  }
}

/** Data of which only the two ends would be compared. */
function longPlace(host: string): string {
  const half = 'x'.repeat(20_000_000)
  return `${half}${host}${half}`
}

interface DocumentParts {
  readonly path: string
  readonly server: string
  readonly method: string
  readonly place: string
  readonly description: string
}

/** An API with one operation, and the requests that were sent to it. */
function pets(change: Partial<DocumentParts> = {}) {
  const { path, server, method, place, description } = {
    path: '/pets/{id}/archive',
    server: 'https://pets.example.com',
    method: 'post',
    place: 'path',
    description: 'Archive a pet',
    ...change,
  }
  const id = { type: 'string' }
  const schema = { type: 'object', properties: { id }, required: ['id'] }
  const fields =
    place === 'body'
      ? { requestBody: { required: true, content: { 'application/json': { schema } } } }
      : { parameters: [{ name: 'id', in: place, required: true, schema: id }] }
  const operation = { operationId: 'archivePet', description, ...fields }
  const info = { title: 'Pets', version: '1' }
  const spec = { openapi: '3.1.0', info, servers: [{ url: server }], paths: { [path]: { [method]: operation } } }
  const sent: string[] = []
  const send = async (input: unknown): Promise<Response> => {
    const { method: sentMethod, url } = input as Request
    sent.push(`${sentMethod} ${url}`)
    return Response.json({ ok: true })
  }
  const toolset = new OpenApiToolset({ spec, confirmUnsafe: true, fetch: send as typeof fetch, logger: silentLogger })
  return { sent, toolset }
}

/** A URL that is never requested: its requests are sent to a server of the test. */
const SAME = 'http://127.0.0.1:1/mcp'

/** A real MCP server on loopback, and the amounts that were paid. */
async function paymentServer(name = 'bank') {
  const paid: number[] = []
  const pay = tool({
    name: 'pay',
    description: 'Pay',
    parameters: z.object({ amount: z.number() }),
    run: ({ amount }) => `${paid.push(amount)} paid`,
  })
  const server = serveMcp({ name, tools: [pay] })
  const { url } = await server.listen({ port: 0 })
  const toolset = (more: Partial<McpToolsetOptions> = {}, query = ''): McpToolset =>
    new McpToolset({
      name: 'bank',
      connection: { type: 'http', url: `${url}${query}` },
      requiresConfirmation: true,
      logger: silentLogger,
      ...more,
    })
  /** The server under another URL, as behind a name whose address changes. */
  const toolsetAt = (other: string): McpToolset => {
    const send = ((input: string | URL, init?: RequestInit) =>
      fetch(String(input).replace(other, url), init)) as typeof fetch
    return toolset({ connection: { type: 'http', url: other, fetch: send } })
  }
  return {
    paid,
    toolset,
    toolsetAt,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** A local server that lists the same tools whatever its argument is. */
function localServer(argument: string): McpToolset {
  const results = {
    'tools/list': { tools: [listedTool('pay')] },
    'tools/call': { content: [{ type: 'text', text: 'paid by $ARGUMENT' }] },
  }
  const connection = inlineServer(results, { args: [argument] })
  return new McpToolset({ name: 'bank', connection, requiresConfirmation: true, logger: silentLogger })
}
