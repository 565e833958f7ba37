// Which trace contexts come in, and which go out.
import { LlmAgent, Runner, tool } from 'toolwright'
import { McpToolset, serveMcp } from 'toolwright/mcp'
import { otel } from 'toolwright/otel'
import { createServer } from 'toolwright/server'
import { scriptedLive, scriptedModel } from 'toolwright/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { documentOf, startApi, toolsOf } from '../../src/adapters/openapi/api-server.test-kit.ts'
import { idOf, parentOf, registerSdk, traceOf } from '../../src/adapters/otel/exported.test-kit.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const logger = { warn: () => {}, error: () => {} }
const malformed = [
  ['too short', `00-${TRACE}-${SPAN}`],
  ['all zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['of a forbidden version', `ff-${TRACE}-${SPAN}-01`],
  ['too long', 'x'.repeat(5_000)],
]

describe('a request to the server', () => {
  function startServer() {
    const { span, spans } = registerSdk()
    const agent = new LlmAgent({ name: 'clerk', model: scriptedModel(['Hi.', 'Hi.']) })
    const server = createServer({
      apps: { desk: agent },
      token: 'a-long-token-of-16',
      logger,
      services: { observers: [otel()] },
    })
    onTestFinished(() => server.close())
    const send = (path: string, body: object, headers: Record<string, string>) =>
      server.fetch(
        new Request(`http://127.0.0.1${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: 'Bearer a-long-token-of-16', ...headers },
          body: JSON.stringify(body),
        }),
      )
    const run = async (path: string, headers: Record<string, string>) => {
      await send('/apps/desk/users/ada/sessions', { sessionId: 's1' }, {})
      const newMessage = { role: 'user', parts: [{ text: 'Hi' }] }
      const response = await send(path, { appName: 'desk', userId: 'ada', sessionId: 's1', newMessage }, headers)
      return { status: response.status, text: await response.text() }
    }
    return { run, span, spans }
  }

  test.each(['/run', '/run_sse'])('to %s gives its traceparent as the parent', async (path) => {
    const { run, span } = startServer()
    const { status, text } = await run(path, { traceparent: `00-${TRACE}-${SPAN}-01` })
    expect(status).toBe(200)
    expect(traceOf(span('invoke_agent clerk'))).toBe(TRACE)
    expect(parentOf(span('invoke_agent clerk'))).toBe(SPAN)
    expect(text).not.toContain(TRACE) // clients need no trace context
  })

  test.each(malformed)('with a traceparent that is %s runs in a trace of its own', async (_, traceparent = '') => {
    const { run, span } = startServer()
    expect((await run('/run', { traceparent })).status).toBe(200)
    expect(span('invoke_agent clerk').parentSpanContext).toBeUndefined()
  })

  test('without a token adds nothing to a trace', async () => {
    const { run, spans } = startServer()
    const { status } = await run('/run', { traceparent: `00-${TRACE}-${SPAN}-01`, authorization: 'Bearer forged' })
    expect(status).toBe(401)
    expect(spans()).toEqual([])
  })
})

describe('a WebSocket of a live session', () => {
  async function connect(headers: Record<string, string>) {
    const { span, spans } = registerSdk()
    const agent = new LlmAgent({ name: 'voice', tools: [] })
    const live = { voice: { model: scriptedLive(['Hello.']) } }
    const services = { observers: [otel()], model: scriptedModel([]) }
    const server = createServer({ apps: { voice: agent }, live, token: 'a-long-token-of-16', logger, services })
    const { url } = await server.listen({ port: 0 })
    onTestFinished(() => server.close())
    const authorization = 'Bearer a-long-token-of-16'
    const created = { method: 'POST', headers: { authorization, 'content-type': 'application/json' }, body: '{}' }
    await fetch(`${url}/apps/voice/users/ada/sessions/s1`, created)
    const query = 'app_name=voice&user_id=ada&session_id=s1&frames=live'
    const options = { headers: { authorization, ...headers } }
    const socket = new WebSocket(`${url.replace('http', 'ws')}/run_live?${query}`, options)
    const ended = new Promise<void>((resolve) => {
      socket.on('open', () => socket.send(JSON.stringify({ type: 'close' })))
      socket.on('close', () => resolve())
      socket.on('error', () => resolve())
    })
    await ended
    return { span, spans }
  }

  test('gives the traceparent of its request as the parent', async () => {
    const { span } = await connect({ traceparent: `00-${TRACE}-${SPAN}-01` })
    expect([traceOf(span('invoke_agent voice')), parentOf(span('invoke_agent voice'))]).toEqual([TRACE, SPAN])
  })

  test.each(malformed.slice(0, 3))('with a traceparent that is %s is in a trace of its own', async (_, traceparent) => {
    const { span } = await connect({ traceparent: traceparent ?? '' })
    expect(span('invoke_agent voice').parentSpanContext).toBeUndefined()
  })

  test('without a token adds nothing to a trace', async () => {
    const { spans } = await connect({ traceparent: `00-${TRACE}-${SPAN}-01`, authorization: 'Bearer forged' })
    expect(spans()).toEqual([])
  })
})

describe('a tool that sends requests', () => {
  test.each([true, false])('of an OpenAPI document sends traceparent if its origin is listed: %s', async (isListed) => {
    const { span } = registerSdk()
    await using api = await startApi()
    const tools = await toolsOf({ spec: documentOf({ '/things': { get: { operationId: 'list' } } }), baseUrl: api.url })
    const agent = new LlmAgent({
      name: 'desk',
      model: scriptedModel([{ calls: [{ name: 'list' }] }, 'Ok.']),
      tools: [...tools.values()],
    })
    const propagateTo = [isListed ? api.url : 'http://127.0.0.1:1']
    await new Runner({ appName: 'app', agent, observers: [otel({ propagateTo })] }).complete({
      userId: 'ada',
      message: 'Go',
    })
    const { traceId, spanId } = span('execute_tool list').spanContext()
    expect(api.seen.map(({ headers }) => headers.traceparent)).toEqual([
      isListed ? `00-${traceId}-${spanId}-01` : undefined,
    ])
  })

  test.each([true, false])('of an MCP server sends _meta.traceparent if its origin is listed: %s', async (isListed) => {
    const { spans } = registerSdk()
    const look = tool({ name: 'look', description: 'Looks', effect: 'none', run: () => ({ ok: true }) })
    const served = serveMcp({ tools: [look], userId: 'ada' })
    onTestFinished(() => served.close())
    const calls: { readonly _meta?: { readonly traceparent?: string } }[] = []
    const toServer: typeof fetch = async (input, init) => {
      const request = new Request(input, init)
      const body = request.method === 'POST' ? await request.clone().json() : undefined
      if (body?.method === 'tools/call') calls.push(body.params)
      return await served.fetch(request)
    }
    const connection = { type: 'http', url: 'http://127.0.0.1:9000/mcp', fetch: toServer } as const
    const toolset = new McpToolset({ name: 'shop', connection })
    const model = scriptedModel([{ calls: [{ name: 'look' }] }, 'Ok.'])
    const agent = new LlmAgent({ name: 'desk', model, tools: [toolset] })
    const propagateTo = [isListed ? 'http://127.0.0.1:9000' : 'https://127.0.0.1:9000']
    await using runner = new Runner({ appName: 'app', agent, logger, observers: [otel({ propagateTo })] })
    expect((await runner.complete({ userId: 'ada', message: 'Go' })).text).toBe('Ok.')
    const attempt = spans().find(({ name }) => name.startsWith('execute_tool'))
    const sent = calls.map(({ _meta }) => _meta?.traceparent)
    expect(sent).toEqual([isListed ? `00-${attempt && traceOf(attempt)}-${attempt && idOf(attempt)}-01` : undefined])
  })

  test('refuses a list with anything but origins', () => {
    expect(() => otel({ propagateTo: ['https://api.example.com/path'] })).toThrow(
      /propagateTo must be a list of origins/,
    )
    expect(() => otel({ propagateTo: ['*'] })).toThrow(/propagateTo must be a list of origins/)
  })
})
