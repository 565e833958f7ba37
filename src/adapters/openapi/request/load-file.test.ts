import { expect, test } from 'vitest'
import { InMemoryArtifactService } from '../../../services/artifact/in-memory.ts'
import { callTool, documentOf, startApi, toolsOf } from '../api-server.test-kit.ts'

const properties = { photo: { type: 'string', format: 'binary' }, title: { type: 'string' } }
const spec = documentOf({
  '/photos': {
    post: {
      operationId: 'upload',
      requestBody: { content: { 'multipart/form-data': { schema: { type: 'object', properties } } } },
    },
    put: { operationId: 'replace', requestBody: { content: { 'image/png': { schema: {} } } } },
  },
})
const PNG = Buffer.from([0x89, 0x50, 0, 255])

async function withArtifacts(): Promise<InMemoryArtifactService> {
  const artifactService = new InMemoryArtifactService()
  const where = { appName: 'app', userId: 'user', sessionId: 'session' }
  const inlineData = { mimeType: 'image/png', data: PNG.toString('base64') }
  await artifactService.saveArtifact({ ...where, filename: 'pets/cat.png', artifact: { inlineData } })
  await artifactService.saveArtifact({
    ...where,
    filename: 'far.png',
    artifact: { fileData: { fileUri: 'gs://x/far.png', mimeType: 'image/png' } },
  })
  return artifactService
}

test('sends the artifact that an argument names, as a part and as a whole body', async () => {
  await using api = await startApi()
  const tools = await toolsOf({ spec, baseUrl: api.url })
  const artifactService = await withArtifacts()
  await callTool(tools, 'upload', { args: { photo: 'pets/cat.png', title: 'Cat' }, artifactService })
  await callTool(tools, 'replace', { args: { body: 'pets/cat.png' }, artifactService })
  const [upload, replace] = api.seen
  const headers = { 'content-type': String(upload?.headers['content-type']) }
  const form = await new Response(new Uint8Array(upload?.body ?? []), { headers }).formData()
  const photo = form.get('photo') as File
  expect([photo.name, photo.type, Buffer.from(await photo.arrayBuffer())]).toEqual(['cat.png', 'image/png', PNG])
  expect(form.get('title')).toBe('Cat')
  expect([replace?.headers['content-type'], replace?.body]).toEqual(['image/png', PNG])
})

test.each([['missing.png'], ['far.png'], [''], [7], [{ name: 'pets/cat.png' }]])('refuses %j', async (body) => {
  await using api = await startApi()
  const tools = await toolsOf({ spec, baseUrl: api.url })
  const call = callTool(tools, 'replace', { args: { body }, artifactService: await withArtifacts() })
  await expect(call).rejects.toMatchObject({ name: 'ToolError', code: 'INVALID_ARGS' })
  expect(api.seen).toEqual([])
})

test('without an artifact service the error names the option of the runner', async () => {
  await using api = await startApi()
  const tools = await toolsOf({ spec, baseUrl: api.url })
  await expect(callTool(tools, 'replace', { args: { body: 'pets/cat.png' } })).rejects.toThrow('artifactService')
})
