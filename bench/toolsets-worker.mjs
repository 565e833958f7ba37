// One measurement of bench/toolsets.mjs in a process of its own. Prints RESULT and a JSON line.
// usage: node --expose-gc toolsets-worker.mjs bare|toolwright|toolwright-steps|google-adk|openapi
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
console.log = console.info = console.debug = console.warn = () => {}
const command = process.execPath
const args = [require.resolve('@modelcontextprotocol/server-everything/dist/index.js'), 'stdio']
const quick = process.env.BENCH_QUICK === '1'
const CALLS = 100 // a reply has at most 128
const ROUNDS = quick ? 3 : 60

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1]
const round = async (calls, work) => {
  const start = performance.now()
  await work(calls)
  return ((performance.now() - start) / calls) * 1000
}
/** The median time of one call in microseconds, after a warm-up. */
async function timeOf(calls, rounds, work) {
  for (let at = 0; at < Math.ceil(rounds / 3); at++) await round(calls, work)
  const times = []
  for (let at = 0; at < rounds; at++) times.push(await round(calls, work))
  return median(times)
}

/** A model that calls `echo` as often as wanted, one call after another, then ends its turn. */
function chain() {
  let left = 0
  return {
    start: (calls) => (left = calls),
    next: () => (left-- > 0 ? { name: 'echo', args: { message: `hi ${left}` } } : undefined),
  }
}

/** A runner with the echo tool of the server, and a model that replies with these parts. */
async function agentWith(reply) {
  const { LlmAgent, Runner } = await import('toolwright')
  const { McpToolset } = await import('toolwright/mcp')
  const model = {
    name: 'scripted',
    async *generate({ contents }) {
      yield { content: { role: 'model', parts: reply(contents) } }
    },
  }
  const tools = [new McpToolset({ connection: { type: 'stdio', command, args }, connectTimeoutMs: 20_000 })]
  const toolExecution = { parallel: false }
  const agent = new LlmAgent({ name: 'bench', model, tools, toolExecution, maxIterations: CALLS + 1 })
  const runner = new Runner({ appName: 'bench', agent })
  const run = async () => {
    const { text, sessionId } = await runner.complete({ userId: 'u', message: 'go' })
    if (text !== 'done') throw new Error(`wrong final text: ${text}`)
    await runner.sessionService.deleteSession({ appName: 'bench', userId: 'u', sessionId })
  }
  return { runner, run }
}

const parts = {
  async bare() {
    const { Client } = await import('@modelcontextprotocol/client')
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
    const client = new Client({ name: 'bench', version: '0' })
    await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }))
    const us = await timeOf(CALLS, ROUNDS, async (calls) => {
      for (let at = 0; at < calls; at++) await client.callTool({ name: 'echo', arguments: { message: `hi ${at}` } })
    })
    await client.close()
    return { us }
  },

  /** The calls of one model reply, one after another: the time of a call, without that of a model. */
  async toolwright() {
    const calls = (count) =>
      Array.from({ length: count }, (_, at) => ({ functionCall: { name: 'echo', args: { message: `hi ${at}` } } }))
    let wanted = 0
    const reply = (contents) => (contents.at(-1).role === 'tool' ? [{ text: 'done' }] : calls(wanted))
    const { runner, run } = await agentWith(reply)
    const us = await timeOf(CALLS, ROUNDS, async (count) => {
      wanted = count
      await run()
    })
    await runner.close()
    return { us }
  },

  /** A model call, a tool call, and so on: the time of a whole step of an agent. */
  async 'toolwright-steps'() {
    const script = chain()
    const { runner, run } = await agentWith(() => {
      const functionCall = script.next()
      return [functionCall ? { functionCall } : { text: 'done' }]
    })
    const us = await timeOf(CALLS, ROUNDS, async (count) => {
      script.start(count)
      await run()
    })
    await runner.close()
    return { us }
  },

  async 'google-adk'() {
    const { BaseLlm, InMemoryRunner, LlmAgent, LogLevel, MCPToolset, setLogLevel } = await import('@google/adk')
    setLogLevel(LogLevel.ERROR)
    const script = chain()
    class Scripted extends BaseLlm {
      constructor() {
        super({ model: 'scripted' })
      }
      async *generateContentAsync() {
        const functionCall = script.next()
        yield { content: { role: 'model', parts: [functionCall ? { functionCall } : { text: 'done' }] } }
      }
    }
    const tools = [
      new MCPToolset({ type: 'StdioConnectionParams', serverParams: { command, args, stderr: 'ignore' } }, ['echo']),
    ]
    const runner = new InMemoryRunner({
      agent: new LlmAgent({ name: 'bench', model: new Scripted(), tools }),
      appName: 'bench',
    })
    const us = await timeOf(quick ? 2 : 5, quick ? 1 : 3, async (calls) => {
      script.start(calls)
      let text
      const newMessage = { role: 'user', parts: [{ text: 'go' }] }
      for await (const event of runner.runEphemeral({ userId: 'u', newMessage }))
        text = event.content?.parts?.[0]?.text ?? text
      if (text !== 'done') throw new Error(`wrong final text: ${text}`)
    })
    return { us }
  },

  async openapi() {
    const { OpenApiToolset } = await import('toolwright/openapi')
    const spec = JSON.stringify(largeDocument(1_000))
    gc()
    const before = process.memoryUsage.rss()
    const start = performance.now()
    const toolset = new OpenApiToolset({ spec, baseUrl: 'https://api.example.com' })
    const tools = await toolset.listTools({ invocation: { appName: 'bench', userId: 'u' }, state: {} })
    for (const tool of tools) tool.declaration()
    const ms = performance.now() - start
    if (tools.length !== 1_000) throw new Error(`${tools.length} tools`)
    return { ms, rssMB: (process.memoryUsage.rss() - before) / 1_048_576 }
  },
}

/** A document with many operations and shared, cyclic schemas, like that of a large API. */
function largeDocument(operations) {
  const schemas = Object.fromEntries(
    Array.from({ length: 300 }, (_, at) => [
      `Type${at}`,
      {
        type: 'object',
        description: `A type with number ${at}`,
        required: ['id'],
        properties: {
          id: { type: 'string', format: 'uuid' },
          count: { type: 'integer', minimum: 0, nullable: true },
          tags: { type: 'array', items: { type: 'string', maxLength: 64 } },
          next: { $ref: `#/components/schemas/Type${(at + 1) % 300}` },
          parent: { $ref: `#/components/schemas/Type${at >> 1}` },
        },
      },
    ]),
  )
  const paths = {}
  for (let at = 0; at < operations; at++) {
    const content = { 'application/json': { schema: { $ref: `#/components/schemas/Type${290 + (at % 10)}` } } }
    paths[`/things${at}/{id}`] = {
      post: {
        operationId: `changeThing${at}`,
        summary: `Changes thing ${at}`,
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'expand', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
        ],
        requestBody: { required: true, content },
        responses: { 200: { description: 'ok', content } },
      },
    }
  }
  return { openapi: '3.0.3', info: { title: 'Large', version: '1' }, paths, components: { schemas } }
}

const [part] = process.argv.slice(2)
const result = await parts[part]()
process.stdout.write(`RESULT ${JSON.stringify(result)}\n`, () => process.exit(0))
