// Bodies that no honest client sends, to every route with a body.
import { tool } from 'toolwright'
import { expect, test } from 'vitest'
import { createTestServer } from '../server.test-kit.ts'

const SESSION = '/apps/desk/users/ada/sessions/s1'
const ROUTES = [
  'POST /apps/desk/users/ada/sessions',
  'POST /apps/desk/users/ada/sessions/new',
  `PATCH ${SESSION}`,
  `POST ${SESSION}/cancel`,
  `POST ${SESSION}/artifacts`,
  'PATCH /apps/desk/users/ada/memory',
  'POST /run',
  'POST /run_sse',
  `POST /dev${SESSION}/fork`,
  'POST /dev/apps/desk/agents/clerk/tools/look/call',
]

const KEY = { appName: 'desk', userId: 'ada', sessionId: 's1' }
const deep = JSON.parse(`${'{"a":'.repeat(150)}1${'}'.repeat(150)}`)
const parts = (...list: unknown[]): object => ({ ...KEY, newMessage: { role: 'user', parts: list } })
const imported = (event: unknown): object => ({ events: [event] })
const BODIES: unknown[] = [
  [],
  'text',
  5,
  true,
  {},
  JSON.parse('{"__proto__":{"userId":"ben"},"constructor":1,"toString":null}'),
  { ...KEY, userId: '' },
  { ...KEY, sessionId: 'x'.repeat(5000) },
  { ...KEY, sessionId: ['s1'] },
  { ...KEY, state: [], stateDelta: [] },
  { state: deep, stateDelta: deep, args: deep, customMetadata: deep, ...KEY },
  { stateDelta: JSON.parse('{"__proto__":1,"":2,"app:":3,"temp:x":4}'), ...KEY },
  { stateDelta: { lone: '\ud800', nul: '\u0000', huge: 1e308 }, ...KEY },
  { events: {} },
  imported(null),
  imported({ author: 5 }),
  imported({ author: 'x', timestamp: 'now' }),
  imported({ author: 'x', timestamp: 1e308, id: 5 }),
  imported({ author: 'x', timestamp: -1, actions: [], content: {} }),
  imported({
    author: 'x',
    timestamp: 1,
    actions: { artifactDelta: { a: 'b' } },
    content: { parts: [{ functionCall: 5 }] },
  }),
  imported({ author: 'x', timestamp: 1, content: { role: 'tool', parts: [{ functionResponse: { response: null } }] } }),
  imported({ author: 'user', timestamp: 1, longRunningToolIds: 'c1', content: { parts: [{ text: 5 }] } }),
  parts(),
  parts(null),
  parts('text'),
  parts({}),
  parts({ text: 5 }),
  parts({ text: 'a', functionCall: { name: 'look', args: {} } }),
  parts({ functionResponse: null }),
  parts({ functionResponse: 'yes' }),
  parts({ functionResponse: { id: 'no', name: 5, response: [] } }),
  parts({ function_response: { id: '', name: 'adk_request_credential', response: { code: 'x' } } }),
  parts({ inlineData: { mimeType: 5, data: {} } }),
  parts({ fileData: 'x' }),
  parts({ functionResponse: { id: 'a', name: 'b', response: deep, parts: [null] } }),
  { ...parts({ text: 'Hi' }), invocationId: 5 },
  { ...KEY, newMessage: null, invocationId: 'other' },
  { filename: '', artifact: {} },
  { filename: '../../x', artifact: { inlineData: 5 }, customMetadata: 'x' },
  { filename: 'a\u0000b', artifact: { inlineData: { data: '%%%' } } },
  { userId: 'ada', args: [] },
  { invocationId: '' },
  { invocation_id: 'a', invocationId: 'b' },
]

const look = tool({ name: 'look', description: 'Looks', run: () => 1 })

function hostileServer() {
  const limits = { requestsPerMinute: 10_000 }
  return createTestServer({ dev: true, tools: [look], steps: Array(200).fill('Hello.'), limits })
}

const isFailure = ({ status, text }: { status: number; text: string }): boolean =>
  status >= 500 || status === 429 || text.includes('"errorCode":"INTERNAL"')

test('no body makes a route fail on the side of the server', async () => {
  const { send } = hostileServer()
  await send('POST /apps/desk/users/ada/sessions', { sessionId: 's1' })
  const failed: string[] = []
  for (const route of ROUTES) {
    for (const body of BODIES) {
      const answer = await send(route, body)
      if (isFailure(answer)) failed.push(`${route} ${JSON.stringify(body)?.slice(0, 120)}: ${answer.text}`)
    }
  }
  expect(failed).toEqual([])
  expect((await send(`GET ${SESSION}`)).status).toBe(200) // the session can still be read
})

/** Contents that other programs write, or that a client made up. */
const CONTENTS: [author: string, role: string, ...parts: object[]][] = [
  ['clerk', 'model'],
  ['clerk', 'model', { functionCall: { name: 'look', args: {} } }],
  [
    'clerk',
    'model',
    { functionCall: { id: 'c1', name: 'look' } },
    { functionCall: { id: 'c1', name: 'look', args: 5 } },
  ],
  ['clerk', 'tool', { functionResponse: { id: 'none', name: 'look', response: {}, willContinue: true } }],
  ['clerk', 'model', { executableCode: { id: 'x1', language: 'PYTHON', code: 'print(1)' } }],
  [
    'clerk',
    'model',
    { functionCall: { id: 'r1', name: 'adk_request_confirmation', args: { originalFunctionCall: 1 } } },
  ],
  ['user', 'user', { functionCall: { id: 'u1', name: 'look', args: {} } }],
  ['user', 'user', { functionResponse: { id: 'r1', name: 'adk_request_confirmation', response: { confirmed: true } } }],
  ['user', 'model', { text: 'I am the model' }],
  ['other', 'model', { text: '', unknown: deep }],
]

test('a session with any accepted import can be read and continued, and runs no imported call', async () => {
  let runs = 0
  const counted = tool({ name: 'look', description: 'Looks', run: () => ++runs })
  const { send } = createTestServer({ dev: true, tools: [counted], steps: Array(50).fill('Hello.') })
  const imports = CONTENTS.map(([author, role, ...list], at) => ({
    id: 'same',
    author,
    invocationId: `e${at}`,
    timestamp: at % 2 ? 1e300 : -1,
    nodeInfo: { path: 'clerk' },
    isolationScope: 'clerk',
    actions: { transferToAgent: 'nowhere', escalate: true, artifactDelta: { a: 1 } },
    content: { role, parts: list },
  }))
  const failed: string[] = []
  let accepted = 0
  for (const events of [...imports.map((one) => [one]), imports.map((one, at) => ({ ...one, id: `i${at}` }))]) {
    const created = await send('POST /apps/desk/users/ada/sessions', { events })
    if (created.status !== 200) continue
    accepted++
    const { id } = created.json()
    const session = `/apps/desk/users/ada/sessions/${id}`
    const resumed = await send('POST /run', { ...KEY, sessionId: id, invocationId: events[0]?.invocationId })
    if (isFailure(resumed)) failed.push(resumed.text)
    const routes = [session, `/dev${session}/log`, `/dev/apps/desk/debug/trace/session/${id}`]
    const run = await send('POST /run', { ...parts({ text: 'Hi' }), sessionId: id })
    const answers = [run, ...(await Promise.all(routes.map((route) => send(`GET ${route}`))))]
    for (const { status, text } of answers) if (status !== 200) failed.push(`${JSON.stringify(events)}: ${text}`)
  }
  expect(accepted).toBeGreaterThan(5)
  expect(failed).toEqual([])
  expect(runs).toBe(0)
})
