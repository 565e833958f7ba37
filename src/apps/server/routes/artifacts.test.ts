import { expect, test } from 'vitest'
import { createTestServer, SESSIONS } from '../server.test-kit.ts'

const ARTIFACTS = `${SESSIONS}/s1/artifacts`

async function serverWithArtifacts() {
  const { send } = createTestServer()
  await send(`POST ${SESSIONS}`, { sessionId: 's1' })
  await send(`POST ${ARTIFACTS}`, { filename: 'a/b.txt', artifact: { text: 'zero' } })
  const saved = await send(`POST ${ARTIFACTS}`, {
    filename: 'a/b.txt',
    artifact: { inline_data: { mime_type: 'text/plain', data: 'b25l' } },
    custom_metadata: { by_hand: true },
  })
  return { send, saved }
}

test('saves artifacts whose names have slashes', async () => {
  const { send, saved } = await serverWithArtifacts()
  expect(saved.json()).toMatchObject({ version: 1, mimeType: 'text/plain', customMetadata: { by_hand: true } })
  expect((await send(`GET ${ARTIFACTS}`)).json()).toEqual(['a/b.txt'])
})

test.each([
  ['a/b.txt', { inlineData: { mimeType: 'text/plain', data: 'b25l' } }],
  ['a%2Fb.txt', { inlineData: { mimeType: 'text/plain', data: 'b25l' } }],
  ['a/b.txt?version=0', { text: 'zero' }],
  ['a/b.txt/versions', [0, 1]],
  ['a/b.txt/versions/0', { text: 'zero' }],
  ['a%2Fb.txt/versions/latest', { inlineData: { mimeType: 'text/plain', data: 'b25l' } }],
  ['a/b.txt/versions/1/metadata', expect.objectContaining({ version: 1, customMetadata: { by_hand: true } })],
  ['a/b.txt/versions/metadata', [expect.objectContaining({ version: 0 }), expect.objectContaining({ version: 1 })]],
])('reads %s', async (path, expected) => {
  const { send } = await serverWithArtifacts()
  const answer = await send(`GET ${ARTIFACTS}/${path}`)
  expect([answer.status, answer.json()]).toEqual([200, expected])
})

test.each([
  ['a/b.txt/versions/x', 422],
  ['a/b.txt/versions/-1', 422],
  ['a/b.txt/versions/1e3', 422],
  ['a/b.txt?version=0x1', 422],
  ['a/b.txt/versions/99999999999999999', 422],
  ['a/b.txt/versions/7', 404],
  ['other.txt', 404],
  ['a/b.txt%2Fversions%2F0', 404], // an encoded slash is part of the name
  ['%E0%A4%A', 400],
])('refuses %s with %i', async (path, status) => {
  const { send } = await serverWithArtifacts()
  expect((await send(`GET ${ARTIFACTS}/${path}`)).status).toBe(status)
})

test('deletes an artifact', async () => {
  const { send } = await serverWithArtifacts()
  const deleted = await send(`DELETE ${ARTIFACTS}/a/b.txt`)
  expect([deleted.status, deleted.json()]).toEqual([200, null])
  expect((await send(`GET ${ARTIFACTS}`)).json()).toEqual([])
})

test.each([
  ['no filename', { artifact: { text: 'x' } }, 'filename must be a string'],
  ['no artifact', { filename: 'x' }, 'artifact must be an object'],
  [
    'data that nobody can decode',
    { filename: 'x', artifact: { inlineData: { mimeType: 'image/png', data: '!!!' } } },
    'artifact.inlineData.data must be base64',
  ],
])('refuses to save with %s', async (_, body, message) => {
  const { send } = await serverWithArtifacts()
  const refused = await send(`POST ${ARTIFACTS}`, body)
  expect([refused.status, refused.json().error]).toEqual([400, expect.stringContaining(message)])
})

test('a client saves no more metadata with an artifact than a tool', async () => {
  const { send } = await serverWithArtifacts()
  const save = (length: number): Promise<{ status: number; text: string }> =>
    send(`POST ${ARTIFACTS}`, { filename: 'm', artifact: { text: 'x' }, customMetadata: { note: 'x'.repeat(length) } })
  const refused = await save(256_000)
  expect([refused.status, refused.text]).toEqual([413, expect.stringContaining('TOO_LARGE')])
  expect((await send(`GET ${ARTIFACTS}/m/versions`)).json()).toEqual([])
  expect((await save(200_000)).status).toBe(200)
})

test('adds a session to the memory of its user, and the developer finds it', async () => {
  const { send } = createTestServer({ dev: true, steps: ['The harbor is blue.'] })
  await send(`POST ${SESSIONS}`, { sessionId: 's1' })
  const newMessage = { role: 'user', parts: [{ text: 'Hi' }] }
  await send('POST /run', { appName: 'desk', userId: 'ada', sessionId: 's1', newMessage })
  expect((await send('PATCH /apps/desk/users/ada/memory', { session_id: 's1' })).status).toBe(200)
  const search = async (user: string): Promise<unknown[]> =>
    (await send(`GET /dev/apps/desk/users/${user}/memory?query=harbor`)).json().memories
  expect(await search('ada')).toMatchObject([
    { author: 'clerk', content: { parts: [{ text: 'The harbor is blue.' }] } },
  ])
  expect(await search('ben')).toEqual([])
  expect((await send('PATCH /apps/desk/users/ada/memory', { sessionId: 'other' })).status).toBe(404)
})
