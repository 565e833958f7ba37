// Published MCP servers, end to end: over stdio, Streamable HTTP and the older transport.
import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Completion, LlmAgent, Runner, respond } from 'toolwright'
import { McpToolset, type McpToolsetOptions } from 'toolwright/mcp'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../src/apps/cli/consent/free-port.test-kit.ts'
import { temporaryFolder } from '../../src/apps/sqlite/temporary-file.test-kit.ts'
import { offeredTools, responsesOf, silentLogger } from './kit.ts'

const everything = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'))

// npx starts slowly on a busy machine
test('an agent reads files with the file system server, as the documentation shows', {
  timeout: 30_000,
  retry: 2,
}, async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'note.txt'), 'Buy milk.')
  const files = new McpToolset({
    connection: { type: 'stdio', command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', folder] },
    toolFilter: ['read_file', 'list_directory'],
    connectTimeoutMs: 5000,
  })
  const model = scriptedModel([
    {
      calls: [
        { name: 'list_directory', args: { path: folder } },
        { name: 'read_file', args: { path: join(folder, 'note.txt') } },
        { name: 'read_file', args: { path: '/etc/passwd' } },
        { name: 'write_file', args: { path: join(folder, 'x'), content: '' } },
      ],
    },
    'done',
  ])
  const agent = new LlmAgent({ name: 'agent', model, tools: [files] })
  await using runner = new Runner({ appName: 'app', agent, logger: silentLogger })
  const { events } = await runner.complete({ userId: 'ada', message: 'go' })
  const [listed, read, outside, filtered] = responsesOf(events).map(({ response }) => response)
  expect(offeredTools(model).sort()).toEqual(['list_directory', 'read_file'])
  expect(JSON.stringify(listed)).toContain('[FILE] note.txt')
  expect(JSON.stringify(read)).toContain('Buy milk.')
  expect(outside?.error).toContain('Access denied')
  expect(filtered?.errorCode).toBe('NOT_FOUND')
})

const transports = ['stdio', 'http', 'sse'] as const
const urls = new Map<string, string>()
const processes: ChildProcess[] = []

beforeAll(async () => {
  await Promise.all([serve('streamableHttp', 'http', '/mcp'), serve('sse', 'sse', '/sse')])
}, 30_000)
afterAll(() => {
  for (const child of processes) child.kill('SIGKILL')
})

/** Starts the server on a free port, and waits until it accepts connections. */
async function serve(mode: string, kind: string, path: string): Promise<void> {
  const port = await freePort()
  const child = spawn(process.execPath, [everything, mode], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  })
  processes.push(child)
  const url = `http://127.0.0.1:${port}${path}`
  while (
    !(await fetch(url, { method: 'OPTIONS' }).then(
      () => true,
      () => false,
    ))
  ) {
    if (child.exitCode !== null) throw new Error(`The server (${mode}) did not start.`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  urls.set(kind, url)
}

function connectionOf(kind: (typeof transports)[number]): McpToolsetOptions['connection'] {
  if (kind === 'stdio') return { type: 'stdio', command: process.execPath, args: [everything, 'stdio'] }
  return { type: kind, url: urls.get(kind) ?? '' }
}

describe.each(transports)('the server "everything" over %s', (kind) => {
  function open(
    steps: readonly ScriptedStep[],
    options: Partial<McpToolsetOptions> = {},
  ): { runner: Runner; toolset: McpToolset } {
    const toolset = new McpToolset({
      name: 'everything',
      connection: connectionOf(kind),
      logger: silentLogger,
      ...options,
    })
    const agent = new LlmAgent({ name: 'agent', model: scriptedModel(steps), tools: [toolset] })
    return { toolset, runner: new Runner({ appName: 'app', agent, logger: silentLogger }) }
  }
  const go = (runner: Runner): Promise<Completion> => runner.complete({ userId: 'ada', sessionId: 's', message: 'go' })

  test('answers calls with text, structured data, images and errors', async () => {
    const calls = [
      { name: 'echo', args: { message: 'hi' } },
      { name: 'get-sum', args: { a: 2, b: 3 } },
      { name: 'get-structured-content', args: { location: 'New York' } },
      { name: 'get-tiny-image', args: {} },
      { name: 'get-sum', args: { a: 'two' } },
    ]
    const { runner } = open([{ calls }, 'done'])
    const responses = responsesOf((await go(runner)).events).map(({ response }) => response)
    await runner.close()
    expect(responses[0]).toEqual({ text: 'Echo: hi' })
    expect(responses[1]?.text).toContain('5')
    expect(responses[2]?.structuredContent).toMatchObject({ conditions: expect.any(String) })
    expect(responses[3]?.media).toEqual(['image/png'])
    expect(responses[4]?.errorCode).toBe('INVALID_ARGS')
  })

  test('reports progress', async () => {
    const seen: number[] = []
    const args = { duration: 0.4, steps: 4 }
    const { runner } = open([{ calls: [{ name: 'trigger-long-running-operation', args }] }, 'done'], {
      onProgress: ({ progress }) => seen.push(progress),
    })
    const [response] = responsesOf((await go(runner)).events)
    await runner.close()
    expect(response?.response.text).toContain('completed')
    expect(seen).toContain(2)
  })

  test('asks the user', async () => {
    const { runner } = open([{ calls: [{ name: 'trigger-elicitation-request' }] }, 'done'])
    const { pending } = await go(runner)
    expect(pending).toHaveLength(1)
    const [request] = pending
    if (!request) throw new Error('There is no request.')
    expect(request.hint).toContain('The MCP server "everything" asks:')
    const message = [respond(request, { name: 'Ada' })]
    const { events } = await runner.complete({ userId: 'ada', sessionId: 's', message })
    await runner.close()
    expect(JSON.stringify(responsesOf(events)[0]?.response)).toContain('Ada')
  })

  test('offers resources and prompts', async () => {
    const { runner } = open(
      [
        { calls: [{ name: 'load_mcp_resource' }, { name: 'load_mcp_prompt' }] },
        { calls: [{ name: 'load_mcp_prompt', args: { name: 'simple-prompt' } }] },
        'done',
      ],
      { resources: true, prompts: true, toolFilter: [] },
    )
    const responses = responsesOf((await go(runner)).events).map(({ response }) => response)
    await runner.close()
    expect(JSON.stringify(responses[0])).toContain('"uri"')
    expect(JSON.stringify(responses[1])).toContain('simple-prompt')
    expect(JSON.stringify(responses[2])).toContain('"role":"user"')
  })
})
