import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startServer } from '../edge.test-kit.ts'

/** A client that asks for a WebSocket and never closes its side of the connection. */
function openStubborn(port: number, headers: readonly string[] = []): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
  const lines = ['GET /run_live?app_name=a&user_id=b&session_id=c HTTP/1.1', `Host: 127.0.0.1:${port}`, ...upgrade]
  socket.write([...lines, ...headers, '', ''].join('\r\n'))
  return socket
}

test('a refused client that stays connected neither keeps a connection nor the server from closing', async () => {
  const { server, url, port, headers } = await startServer({ limits: { connections: 3 } })
  const authorization = `Authorization: ${headers.authorization}`
  for (const lines of [[], ['Origin: https://evil.example'], [authorization, 'Sec-WebSocket-Key: short']]) {
    const socket = openStubborn(port, lines)
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1\.1 4/)
    await once(socket.resume(), 'end')
  }
  expect((await fetch(`${url}/health`)).status).toBe(200)
  await server.close()
})
