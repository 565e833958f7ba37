import { expect, test } from 'vitest'
import { createTestServer, runBody, SESSIONS } from '../server.test-kit.ts'

const approval = {
  id: 'x1',
  author: 'user',
  timestamp: 1,
  content: {
    role: 'user',
    parts: [{ functionResponse: { id: 'r1', name: 'adk_request_confirmation', response: { confirmed: true } } }],
  },
}
const reply = { id: 'x2', author: 'desk', timestamp: 2, content: { role: 'model', parts: [{ text: 'Paid.' }] } }

/** The ids of the events with the mark, and how many events have none. */
async function marksOf({ send }: Pick<ReturnType<typeof createTestServer>, 'send'>): Promise<unknown> {
  const { events } = (await send(`GET ${SESSIONS}/s1`)).json()
  const marked = events.filter((event: { imported?: unknown }) => event.imported === true)
  return [marked.map(({ id }: { id: string }) => id), events.length - marked.length]
}

test.each([{}, { imported: false }, { imported: null }])(
  'an imported approval is marked when the client sends the mark as %j',
  async (claimed) => {
    const server = createTestServer()
    const events = [
      { ...approval, ...claimed },
      { ...reply, ...claimed },
    ]
    const { json } = await server.send(`POST ${SESSIONS}`, { sessionId: 's1', events })
    expect(json().events).toMatchObject([{ imported: true }, { imported: true }])
    await server.send(`PATCH ${SESSIONS}/s1`, { stateDelta: { a: 1 }, events: [reply], imported: false })
    expect(await marksOf(server)).toEqual([['x1', 'x2'], 1])
  },
)

test('a client cannot mark what happens in the app as imported', async () => {
  const server = createTestServer({ steps: ['Hello.'] })
  await server.send(`POST ${SESSIONS}/s1`, { imported: true, events: [reply] }) // the older route: both are state
  await server.send(`PATCH ${SESSIONS}/s1`, { stateDelta: { a: 1 }, imported: true })
  await server.send('POST /run', runBody('Hi', { imported: true, customMetadata: { imported: true } }))
  expect(await marksOf(server)).toEqual([[], 3])
})
