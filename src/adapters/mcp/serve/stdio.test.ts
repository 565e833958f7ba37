// Connections over streams. The tests of `toolwright mcp` use the streams of real processes.
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { tool } from 'toolwright'
import { expect, onTestFinished, test } from 'vitest'
import { silent } from './serve.test-kit.ts'
import { serveMcp } from './serve-mcp.ts'
import type { ServeMcpOptions } from './serve-options.ts'

const echo = tool({ name: 'echo', description: 'Returns ok', effect: 'none', run: () => 'ok' })

function open(options: ServeMcpOptions) {
  const server = serveMcp({ logger: silent, ...options })
  onTestFinished(() => server.close())
  const input = new PassThrough()
  const output = new PassThrough({ encoding: 'utf8' })
  let shown = ''
  output.on('data', (chunk) => (shown += chunk))
  const ended = server.stdio({ input, output })
  const send = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const until = async (text: string): Promise<void> => {
    while (!shown.includes(text)) await once(output, 'data')
  }
  const initialize = async (capabilities: object = {}): Promise<void> => {
    const clientInfo = { name: 'raw', version: '1' }
    send({ id: 'init', method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities, clientInfo } })
    await until('"init"')
    send({ method: 'notifications/initialized' })
  }
  return { server, input, ended, send, until, initialize, shown: () => shown }
}

test('lines that are no messages are skipped, and the next call is served', async () => {
  const { input, send, until, initialize, shown } = open({ tools: [echo] })
  await initialize()
  input.write('garbage\n{"jsonrpc":"2.0"}\n[]\n{"a":\n\n')
  send({ id: 'unknown', method: 'tools/call', params: { name: '__proto__' } })
  send({ id: 'call', method: 'tools/call', params: { name: 'echo', arguments: {} } })
  await until('"id":"call"')
  expect(shown()).toContain('Unknown tool \\"__proto__\\".')
  for (const line of shown().trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('jsonrpc', '2.0')
})

test('a line over the limit ends the connection', async () => {
  const { input, ended, initialize } = open({ tools: [echo], maxRequestBytes: 1_000 })
  await initialize()
  input.write('x'.repeat(2_000))
  await ended
})

test('the end of the input ends the connection, and cancels a call that waits for its user', async () => {
  let ran = false
  const gated = tool({
    name: 'gated',
    description: 'Needs an approval',
    requiresConfirmation: true,
    run: () => {
      ran = true
    },
  })
  const { server, input, ended, send, until, initialize } = open({ tools: [gated] })
  await initialize({ elicitation: { form: {} } })
  send({ id: 'call', method: 'tools/call', params: { name: 'gated', arguments: {} } })
  await until('elicitation/create')
  expect(await server.runner.pending()).toHaveLength(1)
  input.end()
  await ended
  await server.close() // waits for the cancellation
  expect(await server.runner.pending()).toEqual([])
  expect(ran).toBe(false)
})

test('close() ends the connection', async () => {
  const { server, ended, initialize } = open({ tools: [echo] })
  await initialize()
  await server.close()
  await ended
})
