// What an HTTP client reads when it made a mistake: it has routes, and no functions of the library.
import { tool } from 'toolwright'
import { expect, test } from 'vitest'
import { createTestServer } from '../server.test-kit.ts'

const SESSIONS = '/apps/desk/users/ada/sessions'
const KEY = { appName: 'desk', userId: 'ada', sessionId: 's1' }
const said = (...parts: object[]): object => ({ ...KEY, newMessage: { parts } })
const answer = (id: string, name: string, response: unknown): object => ({ functionResponse: { id, name, response } })

/** A server with a session that waits for an approval and for an input. */
async function pausedServer() {
  const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run: () => ({}) })
  const steps = [{ calls: [{ id: 'c1', name: 'pay' }] }, 'Paid.']
  const { send } = createTestServer({ tools: [pay], steps })
  await send(`POST ${SESSIONS}`, { sessionId: 's1' })
  await send('POST /run', said({ text: 'Pay.' }))
  const [request] = (await send('GET /apps/desk/users/ada/pending')).json()
  return { send, request: request as { id: string } }
}

test('an error of HTTP names routes, not functions of the library', async () => {
  const { send, request } = await pausedServer()
  const approved = answer(request.id, 'adk_request_confirmation', { confirmed: true })
  const texts = [
    await send('POST /run', said({ text: 'Something else.' })),
    await send('POST /run', said(answer('unknown', 'adk_request_confirmation', { confirmed: true }))),
    await send('POST /run', said(answer('c1', 'pay', {}), answer('c1', 'pay', {}))),
    await send('POST /run', said(approved, answer('unknown', 'pay', {}))),
    await send('POST /run', said({ functionResponse: true })),
    await send('POST /run', { ...KEY, invocationId: 'unknown' }),
    await send('POST /run', said(approved)),
    await send('POST /run', said(answer(request.id, 'adk_request_confirmation', { confirmed: false }))),
    await send('POST /run', { ...KEY, invocationId: 'unknown' }),
  ].map(({ text }) => text)
  expect(texts[0]).toContain('GET /apps/{app}/users/{user}/pending')
  expect(texts[0]).toContain('POST /apps/{app}/users/{user}/sessions/{session}/cancel')
  expect(texts[0]).toContain('POST /apps/{app}/users/{user}/sessions/{session}/pending/{request}')
  expect(texts[1]).toContain('GET /apps/{app}/users/{user}/pending')
  expect(texts[5]).toContain('Send a message with POST /run')
  for (const text of texts) expect(text).not.toMatch(/runner\.|approve\(|deny\(|respond\(/)
})
