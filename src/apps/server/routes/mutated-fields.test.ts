// Each field of a valid request is replaced by values of other types, and by values that look almost right.
import { InMemoryArtifactService, LlmAgent, loadArtifacts, tool } from 'toolwright'
import { gemini } from 'toolwright/gemini'
import { createServer } from 'toolwright/server'
import { geminiServer } from 'toolwright/testing'
import { expect, onTestFinished, test } from 'vitest'
import type { JsonObject } from '../../../core/base/json.ts'

const SESSION = '/apps/desk/users/ada/sessions/s1'
const KEY = { appName: 'desk', userId: 'ada', sessionId: 's1' }
const VALUES: unknown[] = [null, true, 0, -1.5, '', ' ', 'x', '\ud800', [], [null], [[]], {}, { a: 1 }, { bogus: 1 }]

const PARTS = [
  { text: 'Hi', thought: false, thoughtSignature: 'AAAA', partMetadata: { a: 1 }, videoMetadata: { fps: 1 } },
  { inlineData: { mimeType: 'image/png', data: 'AAAA', displayName: 'a.png' } },
  { fileData: { fileUri: 'gs://bucket/a.png', mimeType: 'image/png', displayName: 'a.png' } },
  { executableCode: { id: 'x', language: 'PYTHON', code: 'print(1)' } },
  { codeExecutionResult: { id: 'x', outcome: 'OUTCOME_OK', output: '1' } },
]
const ANSWER = { functionResponse: { id: 'r1', name: 'adk_request_confirmation', response: { confirmed: true } } }

const REQUESTS: [route: string, body: JsonObject][] = [
  ...PARTS.map((part): [string, JsonObject] => ['POST /run', runBody(part)]),
  ...PARTS.map((part): [string, JsonObject] => ['POST /run', runBody({ text: 'Look.' }, part)]),
  ['POST /run', runBody({ ...ANSWER, functionResponse: { ...ANSWER.functionResponse, parts: [PARTS[1]] } })],
  ['POST /run', { ...runBody({ text: 'Hi' }), stateDelta: { a: 1 }, customMetadata: { a: 1 }, streaming: true }],
  ['POST /run', { ...KEY, invocationId: 'e-1' }],
  ['POST /run_sse', { ...runBody(ANSWER), functionCallEventId: 'e1' }],
  ['POST /apps/desk/users/ada/sessions', { sessionId: 's9', state: { a: 1 }, events: [importedEvent()] }],
  [`PATCH ${SESSION}`, { stateDelta: { a: { b: 1 } } }],
  [`POST ${SESSION}/cancel`, { invocationId: 'e-1' }],
  [`POST ${SESSION}/pending/r1`, { confirmed: true, args: { a: 1 }, payload: { a: 1 }, reason: 'x', result: 1 }],
  ...PARTS.map((artifact): [string, JsonObject] => [
    `POST ${SESSION}/artifacts`,
    { filename: 'a.txt', artifact, customMetadata: { a: 1 } },
  ]),
  ['PATCH /apps/desk/users/ada/memory', { sessionId: 's1' }],
  [`POST /dev${SESSION}/fork`, { before: 'e-1', newSessionId: 's8' }],
  ['POST /dev/apps/desk/agents/clerk/tools/look/call', { userId: 'ada', args: { a: 1 } }],
]

function runBody(...parts: object[]): JsonObject {
  return { ...KEY, newMessage: { role: 'user', parts } }
}

function importedEvent(): JsonObject {
  const parts = [...PARTS, { functionCall: { id: 'c1', name: 'look', args: {} } }]
  const actions = { stateDelta: { a: 1 }, artifactDelta: { f: 0 }, transferToAgent: 'clerk', escalate: true }
  return { id: 'e1', invocationId: 'i1', author: 'clerk', timestamp: 1, actions, content: { role: 'model', parts } }
}

/** All copies of a value in which one member, at any depth, is replaced by another value or removed. */
function* mutationsOf(value: unknown): Generator<unknown> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    const withMember = (replacement: unknown): unknown =>
      Array.isArray(value) ? value.with(Number(key), replacement) : { ...value, [key]: replacement }
    for (const replacement of [...VALUES, undefined]) yield withMember(replacement)
    for (const inner of mutationsOf(member)) yield withMember(inner)
  }
}

const hasPrivateMessage = (text: string): boolean => /"errorCode":"INTERNAL"|TypeError|not a function/.test(text)

test('no field of a wrong type is a 500, or makes the session unusable for the provider', {
  timeout: 60_000,
}, async () => {
  await using provider = await geminiServer(() => 'Hello.')
  const model = gemini('gemini-2.5-flash', { apiKey: 'any', baseUrl: provider.url })
  const look = tool({ name: 'look', description: 'Looks', run: () => 1 })
  const agent = new LlmAgent({ name: 'clerk', model, tools: [look, loadArtifacts()] })
  const server = createServer({
    apps: { desk: agent },
    services: { artifactService: new InMemoryArtifactService() },
    dev: true,
    limits: { requestsPerMinute: 1_000_000 },
    logger: { warn() {}, error() {} },
  })
  onTestFinished(() => server.close())
  const send = async (line: string, body?: unknown): Promise<{ status: number; text: string }> => {
    const [method = '', path = ''] = line.split(' ')
    const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await server.fetch(new Request(`http://127.0.0.1${path}`, { method, headers, ...sent }))
    return { status: response.status, text: await response.text() }
  }
  const failed: string[] = []
  let sent = 0
  for (const [route, valid] of REQUESTS) {
    for (const body of [valid, ...mutationsOf(valid)]) {
      sent++
      await send('POST /apps/desk/users/ada/sessions', { sessionId: 's1' })
      const { status, text } = await send(route, body)
      const shown = `${route} ${JSON.stringify(body)}: ${status} ${text.slice(0, 200)}`
      if (status >= 500 || hasPrivateMessage(text)) failed.push(shown)
      if (status !== 200 || !/run|sessions$/.test(route)) continue
      const sessionId = route.endsWith('sessions') ? JSON.parse(text).id : 's1'
      const next = await send('POST /run', { ...runBody({ text: 'A good message.' }), sessionId })
      if (next.status !== 200 || next.text.includes('errorCode')) failed.push(`${shown}\n  then: ${next.text}`)
      await send(`DELETE /apps/desk/users/ada/sessions/${encodeURIComponent(sessionId)}`)
    }
  }
  expect(failed).toEqual([])
  expect(sent).toBeGreaterThan(2_000)
})
