import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { type AddressInfo, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type Endpoint, openEndpoint } from './endpoint.ts'

async function open(handle: Parameters<typeof openEndpoint>[0], concurrency = 10): Promise<Endpoint> {
  const endpoint = await openEndpoint(handle, { host: '127.0.0.1', port: 0, concurrency })
  onTestFinished(() => endpoint.close())
  return endpoint
}

function connectTo({ port }: Endpoint): ClientHttp2Session {
  const client = connect(`http://127.0.0.1:${port}`)
  client.on('error', () => {})
  onTestFinished(() => client.destroy())
  return client
}

async function get(client: ClientHttp2Session): Promise<string> {
  const request = client.request({ ':path': '/' })
  request.setEncoding('utf8')
  return (await request.toArray()).join('')
}

test('tells Restate how many requests a connection takes', async () => {
  const client = connectTo(await open((_, response) => response.end('ok'), 7))
  await once(client, 'remoteSettings')
  expect(client.remoteSettings.maxConcurrentStreams).toBe(7)
  expect(await get(client)).toBe('ok')
})

test('a worker that drains answers the requests under way, and takes no more', async () => {
  const gate = Promise.withResolvers<void>()
  const started = Promise.withResolvers<void>()
  const endpoint = await open(async (_, response) => {
    started.resolve()
    await gate.promise
    response.end('done')
  })
  const client = connectTo(endpoint)
  const answer = get(client)
  await started.promise
  let isDrained = false
  const drained = endpoint.drain().then(() => {
    isDrained = true
  })
  await once(client, 'goaway')
  await expect(once(connectTo(endpoint), 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  expect(isDrained).toBe(false)
  gate.resolve()
  expect(await answer).toBe('done')
  await drained
})

test('a worker that closes ends the requests under way', async () => {
  const endpoint = await open(() => {})
  const client = connectTo(endpoint)
  await once(client, 'connect')
  const closed = once(client, 'close')
  client.request({ ':path': '/' }).on('error', () => {})
  await endpoint.close()
  await closed
})

test('says that the port is in use', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  onTestFinished(() => void other.close())
  const { port } = other.address() as AddressInfo
  await expect(openEndpoint(() => {}, { host: '127.0.0.1', port, concurrency: 1 })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  })
})

test('a worker without connections drains at once', async () => {
  await (await open(() => {})).drain()
})
