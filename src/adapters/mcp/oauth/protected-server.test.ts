// An agent with the tools of an MCP server that a real authorization server protects.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InMemoryCredentialService, LlmAgent, type PendingRequest, Runner, respond } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { UserAgent } from '../../../services/auth/user-agent.test-kit.ts'
import { McpToolset } from '../mcp-toolset.ts'
import { type ProtectedServer, startProtectedServer } from './protected-server.test-kit.ts'

const REDIRECT_URI = 'http://127.0.0.1:9999/callback'

type Services = Partial<ConstructorParameters<typeof Runner>[0]>

/** An agent whose model calls one tool in each run. */
function start(server: ProtectedServer, tools: readonly string[], services: Services = {}) {
  const steps = tools.flatMap((name): ScriptedStep[] => [
    (request) => (request.tools.has(name) ? { calls: [{ name }] } : { calls: [{ name: 'read_mail' }] }),
    ({ contents }) => JSON.stringify(contents.at(-1)?.parts?.[0]?.functionResponse?.response ?? 'no response'),
  ])
  const toolset = new McpToolset({
    name: 'mail',
    connection: { type: 'http', url: server.url },
    clientMetadata: { redirectUris: [REDIRECT_URI] },
  })
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel(steps), tools: [toolset] })
  const warnings: string[] = []
  const logger = { debug: () => {}, info: () => {}, error: () => {}, warn: (text: string) => void warnings.push(text) }
  const runner = new Runner({
    appName: 'desk',
    agent,
    logger,
    credentialService: new InMemoryCredentialService(),
    ...services,
  })
  return { runner, warnings }
}

/** Sends a message, consents to what is asked, and returns the text and how often the user was asked. */
async function ask(runner: Runner, userId = 'ada', browser = new UserAgent(userId)) {
  let { pending, sessionId, text } = await runner.complete({ userId, message: 'Mail?' })
  const asked: PendingRequest[] = []
  while (pending.length > 0 && asked.length < 5) {
    asked.push(...pending)
    const answers = pending.map(async (request) =>
      respond(request, { authResponseUri: await browser.consent(request.authUri ?? '') }),
    )
    const next = await runner.complete({ userId, sessionId, message: await Promise.all(answers) })
    ;({ pending, text } = next)
  }
  return { text, scopes: asked.map(({ authUri }) => new URL(authUri ?? '').searchParams.get('scope')) }
}

test('the user consents before the tools are listed, and once for all sessions', async () => {
  await using server = await startProtectedServer()
  const { runner } = start(server, ['read_mail', 'read_mail'])
  const first = await runner.complete({ userId: 'ada', message: 'Mail?' })
  const [request] = first.pending
  expect(request).toMatchObject({ kind: 'credential' })
  const uri = new URL(request?.authUri ?? '')
  expect(uri.origin).toBe(server.issuer.issuer)
  expect(uri.searchParams.get('resource')).toBe(server.url.href)
  expect(uri.searchParams.get('code_challenge_method')).toBe('S256')
  const authResponseUri = await new UserAgent().consent(uri.href)
  const message = [respond(request as PendingRequest, { authResponseUri })]
  const { text } = await runner.complete({ userId: 'ada', sessionId: first.sessionId, message })
  expect(text).toContain('mail of')
  expect((await ask(runner)).scopes).toEqual([])
  expect(server.tokens).toHaveLength(1)
  await runner.close()
})

test('an expired token is refreshed with the registered client', async () => {
  await using server = await startProtectedServer({ accessTokenSeconds: 60 })
  let shift = 0
  const { runner } = start(server, ['read_mail', 'read_mail'], { ports: { now: () => Date.now() + shift } })
  await ask(runner)
  shift = 61_000
  const again = await ask(runner)
  expect(again).toMatchObject({ text: expect.stringContaining('mail of'), scopes: [] })
  expect(server.issuer.countTokenRequests('refresh_token')).toBe(1)
  expect(server.tokens).toHaveLength(2)
  await runner.close()
})

test('a call that needs another scope asks for it, and later calls do not', async () => {
  await using server = await startProtectedServer()
  const { runner } = start(server, ['read_mail', 'send_mail', 'send_mail', 'read_mail'])
  expect((await ask(runner)).scopes).toEqual(['mail.read offline_access'])
  const sent = await ask(runner)
  expect(sent.text).toContain('sent')
  expect(sent.scopes).toEqual(['mail.read offline_access mail.write'])
  expect(await ask(runner)).toMatchObject({ text: expect.stringContaining('sent'), scopes: [] })
  expect(await ask(runner)).toMatchObject({ text: expect.stringContaining('mail of'), scopes: [] })
  await runner.close()
})

test('a token that the server refuses before it expires is refreshed without the user', async () => {
  await using server = await startProtectedServer()
  const { runner } = start(server, ['read_mail', 'read_mail'])
  await ask(runner)
  server.refuse(server.tokens[0] ?? '')
  expect(await ask(runner)).toMatchObject({ text: expect.stringContaining('mail of'), scopes: [] })
  expect(server.issuer.countTokenRequests('refresh_token')).toBe(1)
  await runner.close()
})

test('a new process refreshes a stored token that the server refuses', async () => {
  await using server = await startProtectedServer()
  const credentialService = new InMemoryCredentialService()
  const first = start(server, ['read_mail'], { credentialService })
  await ask(first.runner)
  await first.runner.close()
  server.refuse(server.tokens[0] ?? '')
  const second = start(server, ['read_mail'], { credentialService })
  expect(await ask(second.runner)).toMatchObject({ text: expect.stringContaining('mail of'), scopes: [] })
  await second.runner.close()
})

test('a server that refuses every token is left out without another consent', async () => {
  await using server = await startProtectedServer()
  server.refuseAll()
  const { runner, warnings } = start(server, ['read_mail'])
  const { scopes } = await ask(runner)
  expect(scopes).toHaveLength(1)
  expect(warnings.join('\n')).toContain('The tools of toolset "mail" are left out')
  expect(server.issuer.tokenRequests.length).toBeLessThan(5)
  await runner.close()
})

test('the user is asked again after all tokens were revoked', async () => {
  await using server = await startProtectedServer()
  const { runner } = start(server, ['read_mail', 'read_mail'])
  await ask(runner)
  await server.issuer.revoke(server.tokens[0] ?? '') // ends the refresh token too
  const again = await ask(runner)
  expect(again.text).toContain('mail of')
  expect(again.scopes).toHaveLength(1)
  await runner.close()
})

test('another user is asked, and never gets the token of the first', async () => {
  await using server = await startProtectedServer()
  const { runner } = start(server, ['read_mail', 'read_mail'])
  await ask(runner, 'ada')
  const bob = await ask(runner, 'bob')
  expect(bob.scopes).toHaveLength(1)
  expect(server.tokens).toHaveLength(2)
  await runner.close()
})

test('the agent continues without the tools if the user declines', async () => {
  await using server = await startProtectedServer()
  const { runner, warnings } = start(server, ['read_mail'])
  const { pending, sessionId } = await runner.complete({ userId: 'ada', message: 'Mail?' })
  const authResponseUri = await new UserAgent().decline(pending[0]?.authUri ?? '')
  const message = [respond(pending[0] as PendingRequest, { authResponseUri })]
  expect((await runner.complete({ userId: 'ada', sessionId, message })).pending).toEqual([])
  expect(warnings.join('\n')).toContain('The tools of toolset "mail" are left out: the user has not consented')
  expect(server.tokens).toEqual([])
  await runner.close()
})

test('a process that starts between the consent and the call continues with the same client', async () => {
  await using server = await startProtectedServer()
  const folder = await mkdtemp(join(tmpdir(), 'toolwright-oauth-'))
  const file = join(folder, 'desk.db')
  try {
    const before = sqlite(file)
    const first = start(server, ['read_mail'], before)
    const { pending, sessionId } = await first.runner.complete({ userId: 'ada', message: 'Mail?' })
    const authResponseUri = await new UserAgent().consent(pending[0]?.authUri ?? '')
    await first.runner.close()
    const after = sqlite(file)
    const second = start(server, ['read_mail', 'read_mail'], after)
    const message = [respond(pending[0] as PendingRequest, { authResponseUri })]
    const { text } = await second.runner.complete({ userId: 'ada', sessionId, message })
    expect(text).toContain('mail of')
    expect((await ask(second.runner)).scopes, 'the next session').toEqual([])
    await second.runner.close()
  } finally {
    await rm(folder, { recursive: true })
  }
})
