// The options of McpToolset, with an honest server.
import { LlmAgent, Runner } from 'toolwright'
import { McpToolset, type McpToolsetOptions } from 'toolwright/mcp'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { callOnce, hostileHttp, meet, offered } from '../mcp/hostile-kit.ts'
import { responsesOf, waitUntil } from './kit.ts'

const callEcho = { calls: [{ name: 'echo', args: { text: 'hi' } }] }

describe('toolFilter', () => {
  const cases: [what: string, toolFilter: McpToolsetOptions['toolFilter'], names: string[]][] = [
    ['is not set', undefined, ['echo', 'evil']],
    ['is a list', ['evil', 'missing'], ['evil']],
    ['is empty', [], []],
    ['is a function', ({ name }) => name === 'echo', ['echo']],
    ['is a function that returns no boolean', () => 'yes' as unknown as boolean, []],
    [
      'throws',
      ({ name }) => {
        if (name === 'evil') throw new Error('unsure')
        return true
      },
      ['echo'],
    ],
  ]
  test.each(cases)('when it %s', async (_, toolFilter, names) => {
    await using server = await hostileHttp('honest')
    const { offered } = await callOnce({ connection: server.connection, calls: [], options: { toolFilter } })
    expect(offered).toEqual(names)
  })

  test('warns about a name that no tool of the server has', async () => {
    await using server = await hostileHttp('honest')
    const lines: string[] = []
    const logger = { warn: (line: string) => void lines.push(line), error: () => {} }
    const options = { name: 'files', toolFilter: ['ecco', 'evil'], logger }
    await callOnce({ connection: server.connection, calls: [], options })
    expect(lines).toEqual([
      'Toolset "files": toolFilter names "ecco", but no usable tool has this name. Did you mean "echo"?',
    ])
  })

  test('sees the user of the run', async () => {
    await using server = await hostileHttp('honest')
    const options: Partial<McpToolsetOptions> = { toolFilter: (_, { invocation }) => invocation.userId === 'ada' }
    await using meeting = meet({ connection: server.connection, options, steps: ['one', 'two'] })
    await meeting.send('go', 'ada')
    await meeting.send('go', 'bob')
    expect(offered(meeting.model, 0)).toEqual(['echo', 'evil'])
    expect(offered(meeting.model, 1)).toEqual([])
  })
})

test('a prefix is put before the names, and the server gets its own', async () => {
  await using server = await hostileHttp('honest')
  const { offered, response } = await callOnce({
    connection: server.connection,
    calls: [{ name: 'files_echo', args: { text: 'hi' } }],
    options: { prefix: 'files_', toolFilter: ['echo'] },
  })
  expect(offered).toEqual(['files_echo'])
  expect(response).toEqual({ text: 'echo {"text":"hi"}' })
})

test('headers of concurrent users never mix, and each user has a session', async () => {
  await using server = await hostileHttp('honest')
  const users = ['ada', 'bob', 'eve']
  const toolset = new McpToolset({
    connection: server.connection,
    headers: async ({ invocation }) => {
      await new Promise((resolve) => setImmediate(resolve))
      return { authorization: `Bearer token-of-${invocation.userId}` }
    },
  })
  const step: ScriptedStep = (request) =>
    request.contents.length > 2 ? 'done' : { calls: Array(5).fill(callEcho.calls[0]) }
  const model = scriptedModel(Array(users.length * 2).fill(step))
  await using runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'agent', model, tools: [toolset] }) })
  await Promise.all(users.map((userId) => runner.complete({ userId, message: 'go' })))
  const sessions = new Map<string, Set<string>>()
  for (const { headers } of server.requests) {
    const session = String(headers['mcp-session-id'] ?? '')
    if (session === '') continue
    sessions.set(session, (sessions.get(session) ?? new Set()).add(String(headers.authorization)))
  }
  expect(sessions.size).toBe(3)
  for (const tokens of sessions.values()) expect(tokens.size).toBe(1)
  expect(server.memory.calls).toBe(15)
})

test('users share one connection when the server wants no credential', async () => {
  await using server = await hostileHttp('honest')
  await using meeting = meet({ connection: server.connection, steps: [callEcho, 'a', callEcho, 'b'] })
  await meeting.send('go', 'ada')
  await meeting.send('go', 'bob')
  expect(server.memory.received.filter(({ method }) => method === 'initialize')).toHaveLength(1)
})

test('an aborted run cancels the call at the server', async () => {
  await using server = await hostileHttp('hangs-in-call')
  await using meeting = meet({ connection: server.connection, steps: [{ calls: [{ name: 'evil' }] }] })
  const abort = new AbortController()
  const running = meeting.runner.complete({ userId: 'ada', message: 'go', signal: abort.signal })
  await waitUntil(() => server.memory.calls === 1)
  abort.abort()
  await running.catch(() => {})
  await waitUntil(() => server.memory.received.some(({ method }) => method === 'notifications/cancelled'))
  const call = server.memory.received.find(({ method }) => method === 'tools/call')
  const cancelled = server.memory.received.find(({ method }) => method === 'notifications/cancelled')
  expect(cancelled?.params?.requestId).toBe(call?.id)
})

describe('resources and prompts', () => {
  const options = { resources: true, prompts: true, toolFilter: [] }

  test('are tools when the options are set', async () => {
    await using server = await hostileHttp('honest')
    const { offered, responses } = await callOnce({
      connection: server.connection,
      calls: [
        { name: 'load_mcp_resource' },
        { name: 'load_mcp_resource', args: { uri: 'memo://one' } },
        { name: 'load_mcp_prompt' },
        { name: 'load_mcp_prompt', args: { name: 'greet', arguments: { who: 'Ada' } } },
      ],
      options,
    })
    expect(offered).toEqual(['load_mcp_resource', 'load_mcp_prompt'])
    expect(responses.slice(0, 4).map(({ response }) => response)).toEqual([
      { resources: [{ uri: 'memo://one', name: 'one' }], templates: [] },
      { resources: [{ uri: 'memo://one', text: 'a memo' }] },
      { prompts: [{ name: 'greet', arguments: [{ name: 'who' }] }] },
      { messages: [{ role: 'user', text: 'Greet Ada.' }] },
    ])
  })

  test('are no tools by default', async () => {
    await using server = await hostileHttp('honest')
    const { offered } = await callOnce({ connection: server.connection, calls: [] })
    expect(offered).toEqual(['echo', 'evil'])
  })

  test('hide the secrets of the connection', async () => {
    await using server = await hostileHttp({
      about: 'Repeats the token of the client.',
      on: {
        'resources/read': ({ id, params }, peer) =>
          params?.uri === 'memo://error'
            ? peer.send({ id, error: { code: -32002, message: 'no access with canary-4711' } })
            : peer.send({ id, result: { contents: [{ uri: 'memo://canary-4711', text: 'token canary-4711' }] } }),
      },
    })
    const { responses, completion } = await callOnce({
      connection: server.connection,
      calls: [
        { name: 'load_mcp_resource', args: { uri: 'memo://one' } },
        { name: 'load_mcp_resource', args: { uri: 'memo://error' } },
      ],
      options: { ...options, headers: () => ({ 'x-api-key': 'canary-4711' }) },
    })
    expect(responses[0]?.response).toEqual({ resources: [{ uri: 'memo://[hidden]', text: 'token [hidden]' }] })
    expect(responses[1]?.response.error).toContain('no access with [hidden]')
    expect(JSON.stringify(completion.events)).not.toContain('canary')
  })

  test('a server cannot take their names', async () => {
    await using server = await hostileHttp('reserved-names')
    const { responses } = await callOnce({
      connection: server.connection,
      calls: [{ name: 'load_mcp_resource' }],
      options: { resources: true },
    })
    expect(responses[0]?.response).toMatchObject({ templates: [] })
  })
})

const invalid: [what: string, options: unknown, message: string][] = [
  ['no connection', {}, 'connection'],
  ['an unknown option', { connection: { type: 'stdio', command: 'x' }, trusted: true }, 'trusted'],
  [
    'an API key in the query',
    {
      connection: { type: 'http', url: 'http://127.0.0.1:9/mcp' },
      auth: { authScheme: { type: 'apiKey', in: 'query', name: 'key' } },
    },
    'an API key in the query cannot be sent. Use { in: "header" }',
  ],
  ['no type', { connection: { command: 'x' } }, 'connection.type must be "stdio", "http" or "sse", got undefined'],
  ['no command', { connection: { type: 'stdio' } }, 'needs a command'],
  ['NUL in an argument', { connection: { type: 'stdio', command: 'x', args: ['a\0b'] } }, 'without NUL'],
  ['a file URL', { connection: { type: 'http', url: 'file:///etc/passwd' } }, 'http or https'],
  ['a script URL', { connection: { type: 'http', url: 'javascript:alert(1)' } }, 'http or https'],
  ['a password in the URL', { connection: { type: 'http', url: 'https://a:b@example.com' } }, 'remove the user name'],
  [
    'a secret without encryption',
    { connection: { type: 'http', url: 'http://example.com', headers: { Authorization: 'x' } } },
    'unencrypted',
  ],
]
test.each(invalid)('%s is refused when the toolset is made', (_, options, message) => {
  expect(() => new McpToolset(options as McpToolsetOptions)).toThrow(message)
})

test('arguments never go through a shell', async () => {
  const program = 'console.error(JSON.stringify(process.argv.slice(1))); process.exit(1)'
  const args = ['-e', program, '--', '$(id)', '; id', '`id`', '| id', '\n']
  const { lines } = await callOnce({ connection: { type: 'stdio', command: process.execPath, args }, calls: [] })
  expect(lines[0]).toContain('["$(id)","; id","`id`","| id","\\n"]')
})

test('a call runs once although two runs start the server at the same time', async () => {
  await using server = await hostileHttp('honest')
  const step: ScriptedStep = (request) => (request.contents.length > 2 ? 'done' : callEcho)
  await using meeting = meet({ connection: server.connection, steps: Array(4).fill(step) })
  const completions = await Promise.all([meeting.send('go', 'ada'), meeting.send('go', 'bob')])
  expect(completions.flatMap(({ events }) => responsesOf(events)).length).toBe(2)
  expect(server.memory.received.filter(({ method }) => method === 'initialize')).toHaveLength(1)
  expect(server.memory.calls).toBe(2)
})
