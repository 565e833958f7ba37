// What a hostile MCP server lists. A tool that cannot be used is left out with a reason, and the others stay usable.
import { afterEach, describe, expect, test } from 'vitest'
import type { HostileHttpServer } from '../mcp/hostile/http-server.ts'
import { callOnce, hostileHttp, type Outcome } from '../mcp/hostile-kit.ts'

let server: HostileHttpServer | undefined
afterEach(async () => {
  await server?.[Symbol.asyncDispose]()
})

async function list(behaviour: string, calls = [{ name: 'echo', args: { text: 'hi' } }]): Promise<Outcome> {
  const started = await hostileHttp(behaviour)
  server = started
  return await callOnce({ connection: started.connection, calls })
}

const leftOut: [behaviour: string, reason: string | RegExp][] = [
  ['no-tools-but-values', 'A tool is left out: its definition is null.'],
  ['duplicate-names', 'Tool "echo" is listed twice. The second one is left out.'],
  ['huge-description', 'Tool "evil" is left out: its definition has more than 256000 bytes.'],
  ['no-schema', 'Tool "evil" is left out: its inputSchema is undefined.'],
  ['self-reference', 'Tool "evil" is left out: inputSchema: the JSON Schema is not valid: "$ref"'],
  ['self-reference-in-definition', 'a reference leads back to itself'],
  ['mutual-all-of', 'a reference leads back to itself'],
  ['deep-schema', 'Tool "evil" is left out: its definition is nested too deeply.'],
  ['remote-reference', 'Only references inside the schema are followed.'],
  ['file-reference', 'Only references inside the schema are followed.'],
  ['fake-zod', '"~standard" is not a keyword of JSON Schema.'],
  ['too-long-name', 'is left out: its name has 300 characters.'],
]
test.each(leftOut)('a listing of "%s" leaves the tool out, and says why', async (behaviour, reason) => {
  const { offered, lines, response } = await list(behaviour)
  expect(offered.filter((name) => name !== 'evil' || behaviour === 'duplicate-names')).toContain('echo')
  expect(lines.join('\n')).toContain(reason)
  expect(response).toMatchObject({ text: expect.stringContaining('echo') })
})

const usable = ['honest', 'no-type', 'type-list', 'expanding-schema', 'invalid-dialect', 'long-description']
test.each(usable)('a listing of "%s" offers the tool', async (behaviour) => {
  const { offered, response, lines } = await list(behaviour, [{ name: 'evil', args: { text: '' } }])
  expect(offered).toEqual(['echo', 'evil'])
  expect(response).toMatchObject({ text: expect.stringContaining('echo') })
  expect(lines).toEqual([])
})

const bounded: [behaviour: string, tools: number, reason: string][] = [
  ['endless-pages', 100, 'more than 100 pages'],
  ['cursor-loop', 3, ''],
  ['many-tools', 500, 'more than 500 tools'],
  ['many-broken-tools', 1, '19950 more tools are left out'],
]
test.each(bounded)('a listing of "%s" ends', async (behaviour, tools, reason) => {
  const { offered, lines } = await list(behaviour, [])
  expect(offered).toHaveLength(tools)
  expect(lines.join('\n')).toContain(reason)
  expect(lines.length).toBeLessThan(60)
})

const unusable: [behaviour: string, reason: string][] = [
  ['no-list', 'its list of tools is an object without keys'],
  ['refuses-list', 'no [2J WARN forged line zzz'],
]
test.each(unusable)('a server of "%s" is left out with one short line', async (behaviour, reason) => {
  const { offered, lines } = await list(behaviour, [])
  expect(offered).toEqual([])
  expect(lines[0]).toContain(`The tools of toolset "hostile" are left out: the MCP server cannot be used: ${reason}`)
  for (const line of lines) {
    expect(line.length).toBeLessThan(1_200)
    expect(line).not.toContain('\n')
    expect(line).not.toContain('\u001b')
  }
})

test('a pattern that backtracks exponentially is checked at once', async () => {
  const args = { text: `${'a'.repeat(50)}!` }
  const { response } = await list('evil-pattern', [{ name: 'evil', args }])
  expect(response).toMatchObject({ errorCode: 'INVALID_ARGS' })
  const honest = await list('evil-pattern', [{ name: 'evil', args: { text: 'aaa' } }])
  expect(honest.response).toMatchObject({ text: expect.stringContaining('aaa') })
})

describe('names', () => {
  test('that models do not accept are mapped, and the server gets its own name', async () => {
    const { offered } = await list('strange-names', [])
    expect(offered).toHaveLength(10)
    expect(new Set(offered).size).toBe(10)
    for (const name of offered) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/)
    const { responses } = await list(
      'strange-names',
      offered.filter((name) => name !== 'echo').map((name) => ({ name, args: { text: '' } })),
    )
    const called = responses.map(({ response }) => response.text)
    expect(called).toContain('called "a/b"')
    expect(called).toContain('called "a b"')
    expect(called).toContain('called "ech\u043e"')
    expect(called).toContain('called "1st"')
  })

  test('of the framework and of the agent are never replaced', async () => {
    const { offered, responses, lines } = await list('reserved-names', [{ name: 'own', args: { text: '' } }])
    expect(offered).toEqual([
      'echo',
      expect.stringMatching(/^_adk_request_confirmation_\w{8}$/),
      expect.stringMatching(/^transfer_to_agent_\w{8}$/),
      expect.stringMatching(/^set_model_response_\w{8}$/),
      'load_mcp_resource',
    ])
    expect(responses[0]?.response).toEqual({ result: 'mine' })
    expect(lines[0]).toBe('Tool "own" of toolset "hostile" is left out: another tool has this name. Use prefixTools().')
  })

  test('that change prototypes are ordinary names [DG-15]', async () => {
    const { offered, responses } = await list('polluting-names', [
      { name: '__proto__', args: { text: '' } },
      { name: 'constructor', args: { text: '' } },
    ])
    expect(offered).toEqual(['echo', '__proto__', 'constructor', 'toString', 'hasOwnProperty'])
    expect(responses.slice(0, 2).map(({ response }) => response.text)).toEqual([
      'called "__proto__"',
      'called "constructor"',
    ])
  })
})

test('a long description is cut', async () => {
  const { model } = await list('long-description', [])
  expect(JSON.stringify(model.requests[0]?.config.tools).length).toBeLessThan(20_000)
})

test('1,000 reports of changes per second cause one further listing', async () => {
  const started = await hostileHttp('list-changed-flood')
  server = started
  const { response } = await callOnce({ connection: started.connection, calls: [{ name: 'evil' }] })
  expect(response).toEqual({ text: 'done' })
  expect(started.memory.lists).toBeLessThanOrEqual(2)
})
