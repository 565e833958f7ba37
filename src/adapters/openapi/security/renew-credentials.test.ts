// An agent with the tools of an API that refuses a stored token, with a real authorization server.
import { InMemoryCredentialService, LlmAgent, type PendingRequest, Runner, respond } from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import type { AuthConfig } from '../../../core/content/auth.ts'
import { startAuthorizationServer } from '../../../services/auth/authorization-server.test-kit.ts'
import { UserAgent } from '../../../services/auth/user-agent.test-kit.ts'
import { documentOf, sendJson, startApi } from '../api-server.test-kit.ts'
import { OpenApiToolset } from '../openapi-toolset.ts'

/** An API that refuses some tokens, and an agent whose model sends a mail in each run. */
async function start(auth: AuthConfig, isRefused: (token: string, tokens: readonly string[]) => boolean) {
  const tokens: string[] = []
  const api = await startApi(({ headers }, response) => {
    const token = headers.authorization?.replace('Bearer ', '') ?? ''
    if (!tokens.includes(token)) tokens.push(token)
    const status = isRefused(token, tokens) ? 401 : 200
    sendJson(response, { echo: token }, status)
  })
  const spec = documentOf({ '/mails': { post: { operationId: 'send_mail' } } })
  const toolset = new OpenApiToolset({ spec, baseUrl: api.url, auth })
  const steps = Array.from({ length: 4 }).flatMap((): ScriptedStep[] => [
    { calls: [{ name: 'send_mail' }] },
    ({ contents }) => JSON.stringify(contents.at(-1)?.parts?.[0]?.functionResponse?.response ?? 'no response'),
  ])
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel(steps), tools: [toolset] })
  const logger = { debug: () => {}, info: () => {}, error: () => {}, warn: () => {} }
  const runner = new Runner({ appName: 'desk', agent, logger, credentialService: new InMemoryCredentialService() })
  const close = async (): Promise<void> => {
    await runner.close()
    await api[Symbol.asyncDispose]()
  }
  return { api, runner, tokens, [Symbol.asyncDispose]: close }
}

/** Sends a message, consents to what is asked, and returns the text and how often the user was asked. */
async function ask(runner: Runner) {
  const browser = new UserAgent('ada')
  let { pending, sessionId, text } = await runner.complete({ userId: 'ada', message: 'Send.' })
  let asked = 0
  while (pending.length > 0 && asked < 5) {
    asked += pending.length
    const consent = async (request: PendingRequest) =>
      respond(request, { authResponseUri: await browser.consent(request.authUri ?? '') })
    const message = await Promise.all(pending.map(consent))
    ;({ pending, text } = await runner.complete({ userId: 'ada', sessionId, message }))
  }
  return { text, asked }
}

test('a token that the API accepts is used again', async () => {
  await using issuer = await startAuthorizationServer()
  await using desk = await start(issuer.oauth2Config(), () => false)
  const { api, runner, tokens } = desk
  expect((await ask(runner)).asked).toBe(1)
  expect((await ask(runner)).asked).toBe(0)
  expect(tokens).toHaveLength(1)
  expect(api.seen).toHaveLength(2)
})

test('a refused token is refreshed, and the call is sent once more', async () => {
  await using issuer = await startAuthorizationServer()
  let revoked: string | undefined
  await using desk = await start(issuer.oauth2Config(), (token) => token === revoked)
  const { api, runner, tokens } = desk
  await ask(runner)
  revoked = tokens[0]
  const { text, asked } = await ask(runner)
  expect(text).toContain('"status":200')
  expect(asked).toBe(0)
  expect(tokens).toHaveLength(2)
  expect(issuer.countTokenRequests('refresh_token')).toBe(1)
  expect(api.seen).toHaveLength(3)
  for (const token of tokens) expect(text).not.toContain(token)
})

test('the user is asked again if the refused token cannot be refreshed', async () => {
  await using issuer = await startAuthorizationServer({ configuration: { issueRefreshToken: () => false } })
  let revoked: string | undefined
  await using desk = await start(issuer.oauth2Config(), (token) => token === revoked)
  const { runner, tokens } = desk
  await ask(runner)
  revoked = tokens[0]
  const { text, asked } = await ask(runner)
  expect(asked).toBe(1)
  expect(text).toContain('"status":200')
  expect(tokens).toHaveLength(2)
})

test('a token of client credentials is requested again', async () => {
  await using issuer = await startAuthorizationServer()
  await using desk = await start(issuer.clientCredentialsConfig(), (token, all) => token === all[0])
  const { runner, tokens } = desk
  const { text } = await ask(runner)
  expect(text).toContain('"status":200')
  expect(tokens).toHaveLength(2)
})

test('an API that refuses every token is asked twice, and the model learns it', async () => {
  await using issuer = await startAuthorizationServer()
  await using desk = await start(issuer.clientCredentialsConfig(), () => true)
  const { api, runner, tokens } = desk
  const { text } = await ask(runner)
  expect(text).toContain('AUTH_FAILED')
  expect(api.seen).toHaveLength(2)
  expect(tokens).toHaveLength(2)
  for (const token of tokens) expect(text).not.toContain(token)
})

test('an API that refuses the token of a new consent does not ask the user again', async () => {
  await using issuer = await startAuthorizationServer({ configuration: { issueRefreshToken: () => false } })
  await using desk = await start(issuer.oauth2Config(), () => true)
  const { text, asked } = await ask(desk.runner)
  expect(text).toContain('AUTH_FAILED')
  expect(asked).toBe(1)
  expect(desk.api.seen).toHaveLength(1)
})

test('a refused key is not sent again', async () => {
  const key: AuthConfig = {
    authScheme: { type: 'http', scheme: 'bearer' },
    rawAuthCredential: { authType: 'http', http: { scheme: 'bearer', credentials: { token: 'fixed-token' } } },
  }
  await using desk = await start(key, () => true)
  const { api, runner } = desk
  expect((await ask(runner)).text).toContain('AUTH_FAILED')
  expect(api.seen).toHaveLength(1)
})
