// Secrets of every kind go through a run on SQLite. None of them appears in what is stored, shown or logged.
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import {
  type AuthConfig,
  type AuthCredential,
  LlmAgent,
  type PendingRequest,
  Runner,
  respond,
  type Tool,
  tool,
} from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { afterEach, expect, test } from 'vitest'
import { startAuthorizationServer } from '../../src/services/auth/authorization-server.test-kit.ts'
import { UserAgent } from '../../src/services/auth/user-agent.test-kit.ts'

const folders: string[] = []
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true })
})

const simple: { readonly [tool: string]: AuthConfig } = {
  key_in_header: apiKeyConfig('header', 'canary-key-header-1f'),
  key_in_query: apiKeyConfig('query', 'canary key+query/2e='),
  key_in_cookie: apiKeyConfig('cookie', 'canary-key-cookie-3d'),
  basic: {
    authScheme: { type: 'http', scheme: 'basic' },
    rawAuthCredential: {
      authType: 'http',
      http: { scheme: 'basic', credentials: { username: 'canary-user-4c', password: 'canary "pass" \\ 5b' } },
    },
  },
  bearer: {
    authScheme: { type: 'http', scheme: 'bearer' },
    rawAuthCredential: { authType: 'http', http: { scheme: 'bearer', credentials: { token: 'canary-bearer-6a' } } },
  },
  custom: {
    authScheme: { type: 'custom', name: 'vault' },
    rawAuthCredential: { authType: 'vault', custom: { seed: 'canary-seed-7f' } },
    credentialKey: 'vault',
  },
  broken: {
    authScheme: { type: 'custom', name: 'leaky' },
    rawAuthCredential: { authType: 'leaky', custom: { seed: 'canary-seed-8e' } },
    credentialKey: 'leaky',
  },
}

function apiKeyConfig(location: 'header' | 'query' | 'cookie', apiKey: string): AuthConfig {
  return {
    authScheme: { type: 'apiKey', in: location, name: 'key' },
    rawAuthCredential: { authType: 'apiKey', apiKey },
  }
}

/** The forms in which a secret could be hidden. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .slice(4, -4),
  )
  const forms = [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    bytes.toString('hex'),
    ...base64,
  ]
  return [...new Set(forms)].filter((form) => form.length >= 8)
}

test('no secret of any kind appears in events, state, pending requests, logs, errors or the bytes of the database', async () => {
  await using server = await startAuthorizationServer()
  const folder = await mkdtemp(join(tmpdir(), 'toolwright-canaries-'))
  folders.push(folder)
  const services = sqlite(join(folder, 'app.db'))
  const written: unknown[] = []
  const logger = { warn: (...all: unknown[]) => written.push(all), error: (...all: unknown[]) => written.push(all) }
  const secrets = new Set<string>([server.clientSecret, 'canary-saved-9d', 'canary-exchanged-0c', 'canary-code-1b'])
  for (const config of Object.values(simple)) collect(config.rawAuthCredential, secrets)

  const run: Tool['run'] = async (_args, context) => {
    collect(context.authCredential, secrets)
    await context.saveCredential('own', { authType: 'apiKey', apiKey: 'canary-saved-9d' })
    written.push(context.invocation.session, { ...context.actions })
    return { done: true }
  }
  const configs = {
    ...simple,
    mail: server.openIdConfig(),
    files: server.oauth2Config(),
    batch: server.clientCredentialsConfig(),
  }
  const tools = Object.entries(configs).map(([name, authConfig]) => tool({ name, description: name, authConfig, run }))
  const calls = (...names: string[]): ScriptedStep => ({
    calls: names.map((name) => ({ name, id: `${name}-1`, args: {} })),
  })
  const model = scriptedModel([calls(...Object.keys(configs)), 'done', calls('mail'), 'again'])
  const runner = new Runner({
    appName: 'app',
    agent: new LlmAgent({ name: 'agent', model, tools }),
    ...services,
    logger,
    credentialExchangers: {
      vault: async () => ({
        authType: 'http',
        http: { scheme: 'bearer', credentials: { token: 'canary-exchanged-0c' } },
      }),
      leaky: async ({ authConfig }) => {
        throw new Error(`cannot use ${JSON.stringify(authConfig.rawAuthCredential)}`, { cause: authConfig })
      },
    },
  })
  const where = { userId: 'ada', sessionId: 's1' }
  const complete = async (
    message: Parameters<Runner['complete']>[0]['message'],
  ): Promise<readonly PendingRequest[]> => {
    try {
      const { events, pending } = await runner.complete({ ...where, message })
      written.push(events, pending)
      return pending
    } catch (error) {
      written.push(error)
      return await runner.pending(where)
    }
  }

  let pending = await complete('go')
  expect(pending.map(({ tool: name }) => name).sort()).toEqual(['files', 'mail'])
  const [first] = pending as [PendingRequest]
  await complete([respond(first, { code: 'canary-code-1b', state: 'wrong' })])
  for (let asked = 0; asked < 2; asked++) {
    const request = pending[0] as PendingRequest
    const callback = await new UserAgent().consent(request.authUri as string)
    secrets.add(new URL(callback).searchParams.get('code') as string)
    pending = await complete([respond(request, { authResponseUri: callback })])
  }
  expect(pending).toEqual([])
  await complete('again')
  written.push(await runner.sessionService.getSession({ appName: 'app', ...where }))
  written.push(model.requests.map(({ contents, config }) => ({ contents, config })))

  expect([...secrets].length).toBeGreaterThanOrEqual(20)
  const bytes = readdirSync(folder)
    .filter((name) => !name.endsWith('.key'))
    .map((name) => readFileSync(join(folder, name)).toString('latin1'))
  const text = [JSON.stringify(written), inspect(written, { depth: 20, showHidden: true }), ...bytes].join('\n')
  expect(text).toContain('done')
  const found = [...secrets].filter((secret) => formsOf(secret).some((form) => text.includes(form)))
  expect(found).toEqual([])
  services.close()
})

/** Collects the secrets of a credential. The client id and the scopes are no secrets. */
function collect(credential: AuthCredential | undefined, into: Set<string>): void {
  const { apiKey, http, oauth2, custom } = credential ?? {}
  const { accessToken, refreshToken, idToken } = oauth2 ?? {}
  for (const secret of [
    apiKey,
    ...Object.values(http?.credentials ?? {}),
    accessToken,
    refreshToken,
    idToken,
    custom?.seed,
  ]) {
    if (typeof secret === 'string') into.add(secret)
  }
}
