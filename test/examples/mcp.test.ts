// The commands `mcp` and `tool` as processes, with the official MCP client.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Child, node, withoutKeys } from './child.ts'

const served = 'test/examples/fixtures/served.ts'
const command = ['--conditions=toolwright:source', 'src/apps/cli/index.ts']

function createClient(mode: 'legacy' | { pin: string }, approve?: boolean): Client {
  const capabilities = approve === undefined ? {} : { elicitation: { form: {} } }
  const client = new Client({ name: 'test', version: '1.0.0' }, { capabilities, versionNegotiation: { mode } })
  if (approve !== undefined)
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { approve } }))
  onTestFinished(() => client.close())
  return client
}

async function connect(mode: 'legacy' | { pin: string }, approve?: boolean) {
  const client = createClient(mode, approve)
  const env = withoutKeys() as Record<string, string>
  const args = [...command, 'mcp', served]
  const transport = new StdioClientTransport({ command: process.execPath, args, env, stderr: 'pipe' })
  let errors = ''
  transport.stderr?.on('data', (chunk) => (errors += chunk))
  const problems: Error[] = []
  client.onerror = (error) => problems.push(error)
  await client.connect(transport)
  const until = async (text: string): Promise<void> => {
    while (!errors.includes(text)) await new Promise((resolve) => transport.stderr?.once('data', resolve))
  }
  return { client, transport, problems, until, errors: () => errors }
}

describe.each([
  ['2025', 'legacy'],
  ['2026-07-28', { pin: '2026-07-28' }],
] as const)('toolwright mcp over stdio, for a client of %s,', (_, mode) => {
  test('serves the tools and the agent, and prints nothing but the protocol', async () => {
    const { client, problems, errors } = await connect(mode)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['get_weather', 'close_shop', 'wait', 'guide'])
    expect(await client.callTool({ name: 'get_weather', arguments: { city: 'Oslo' } })).toMatchObject({
      content: [{ type: 'text', text: '{"city":"Oslo","celsius":-3}' }],
    })
    expect(await client.callTool({ name: 'guide', arguments: { request: 'Is it cold?' } })).toMatchObject({
      content: [{ type: 'text', text: 'It is cold.' }],
    })
    expect(problems).toEqual([])
    for (const printed of ['loading the agent file', 'a line without a logger', 'running the tool'])
      expect(errors()).toContain(printed)
  })

  test('keeps the guard of the agent in front of its tools', async () => {
    const { client } = await connect(mode)
    expect(await client.callTool({ name: 'get_weather', arguments: { city: 'Atlantis' } })).toMatchObject({
      isError: true,
      content: [{ text: 'There is no Atlantis.' }],
    })
  })

  test.each([
    [true, { content: [{ text: '{"closed":true}' }] }],
    [false, { isError: true }],
  ])('asks the user of the client, who answers %s', async (approve, result) => {
    const { client } = await connect(mode, approve)
    expect(await client.callTool({ name: 'close_shop' })).toMatchObject(result)
  })

  test('cancels a running call when the client disconnects, and ends', async () => {
    const { client, until } = await connect(mode)
    const call = client.callTool({ name: 'wait' }).catch(() => 'ended')
    await until('waiting')
    await Promise.all([until('cancelled'), client.close()])
    expect(await call).toBe('ended')
  })
})

test('toolwright mcp ends with 0 when its input ends', async () => {
  const { code, out } = await node(['src/apps/cli/index.ts', 'mcp', served])
  expect({ code, out }).toEqual({ code: 0, out: '' })
})

test.skipIf(process.platform === 'win32')('toolwright mcp --http serves this machine until Ctrl+C', async () => {
  const child = new Child([process.execPath, ...command, 'mcp', served, '--http'])
  onTestFinished(() => void child.process.kill())
  while (!child.errors.includes('Press')) await new Promise((resolve) => child.process.stderr?.once('data', resolve))
  const url = /Serving MCP at (\S+)\. /.exec(child.errors)?.[1] ?? ''
  const client = createClient({ pin: '2026-07-28' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  expect(await client.callTool({ name: 'get_weather', arguments: { city: 'Oslo' } })).toMatchObject({
    content: [{ text: '{"city":"Oslo","celsius":-3}' }],
  })
  const asking = createClient('legacy', true)
  await asking.connect(new StreamableHTTPClientTransport(new URL(url)))
  expect(await asking.callTool({ name: 'close_shop' })).toMatchObject({ content: [{ text: '{"closed":true}' }] })
  child.process.kill('SIGINT')
  expect((await child.ended).code).toBe(0)
})

test('toolwright mcp reports a file without an agent', async () => {
  const { code, out, errors } = await node(['src/apps/cli/index.ts', 'mcp', 'gone.ts'])
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(errors).toContain('Agent file "gone.ts" does not exist.')
})

describe('toolwright tool', () => {
  const tool = ['src/apps/cli/index.ts', 'tool', 'test/examples/fixtures/refund.ts', 'refund', '--args']

  test('prints the result as JSON', async () => {
    const args = ['src/apps/cli/index.ts', 'tool', 'examples/weather.ts', 'get_weather', '--args', '{"city":"Oslo"}']
    const { code, out } = await node(args)
    expect(JSON.parse(out)).toEqual({ city: 'Oslo', celsius: -3 })
    expect(code).toBe(0)
  })

  test('exits with 3 and prints the pending request when no user can answer', async () => {
    const { code, out, errors } = await node([...tool, '{"note":"A-1"}'], { input: 'yes\n' })
    expect({ code, out }).toEqual({ code: 3, out: '' })
    expect(errors).toContain('Tool "refund" waits for the approval of refund {"note":"A-1"}.')
  })

  test('exits with 1 for invalid arguments and unknown tools', async () => {
    const invalid = await node([...tool, '{}'])
    expect(invalid.code).toBe(1)
    expect(JSON.parse(invalid.out)).toMatchObject({ errorCode: 'INVALID_ARGS' })
    const unknown = await node(['src/apps/cli/index.ts', 'tool', 'examples/weather.ts', 'fly'])
    expect(unknown.code).toBe(1)
    expect(JSON.parse(unknown.out)).toMatchObject({ errorCode: 'NOT_FOUND' })
  })

  test('runs the agent of the file', async () => {
    const args = ['src/apps/cli/index.ts', 'tool', served, 'guide', '--args', '{"request":"Is it cold?"}']
    const { code, out } = await node(args)
    expect(out).toContain('"text": "It is cold."')
    expect(code).toBe(0)
  })
})
