import { expect, test } from 'vitest'
import { lostRequest } from './lost-request.ts'

test('a request to a port that fetch refuses was not sent, and the error says so', async () => {
  const thrown = await fetch('http://127.0.0.1:9/').catch((error: unknown) => error) // refused before any connection
  const { isUnsent, message } = lostRequest(thrown, 'http://127.0.0.1:9')
  expect(isUnsent).toBe(true)
  expect(message).toBe('The API at http://127.0.0.1:9 cannot be reached: fetch refuses its port. Use another port.')
})

test('a request whose connection broke off may have been sent', () => {
  const thrown = new TypeError('fetch failed', {
    cause: Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }),
  })
  expect(lostRequest(thrown, 'http://127.0.0.1:8080')).toMatchObject({
    isUnsent: false,
    message: expect.stringContaining('closed the connection before the end of its response (UND_ERR_SOCKET)'),
  })
})
