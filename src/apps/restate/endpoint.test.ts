import { once } from 'node:events'
import { connect } from 'node:http2'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { openEndpoint } from './endpoint.ts'

test('draining waits for the requests under way, and takes no more connections', async () => {
  const [arrived, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const endpoint = await openEndpoint(
    async (_, response) => {
      arrived.resolve()
      await answer.promise
      response.end('done')
    },
    { host: '127.0.0.1', port: 0, concurrency: 2 },
  )
  onTestFinished(() => endpoint.close())
  const url = `http://127.0.0.1:${endpoint.port}`
  const client = connect(url)
  const request = client.request({ ':path': '/' })
  await arrived.promise
  let isDrained = false
  const drained = endpoint.drain().then(() => {
    isDrained = true
  })
  await once(client, 'goaway') // the other side uses another connection from now on
  expect(isDrained).toBe(false)
  answer.resolve()
  expect(await text(request)).toBe('done')
  await drained
  const late = connect(url)
  const [error] = (await once(late, 'error').catch((thrown: unknown) => [thrown])) as [NodeJS.ErrnoException]
  expect(error.code).toBe('ECONNREFUSED')
})

test('draining a worker without connections ends at once', async () => {
  const endpoint = await openEndpoint(() => {}, { host: '127.0.0.1', port: 0, concurrency: 1 })
  await endpoint.drain()
})
