// What console.log, util.inspect and JSON.stringify show of objects that hold secrets of the developer.
import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import {
  type AuthConfig,
  agentTool,
  background,
  CredentialRequired,
  cached,
  concurrency,
  confirm,
  EncryptedCredentialService,
  fallback,
  filterTools,
  InMemoryCredentialService,
  LlmAgent,
  LoopAgent,
  longRunning,
  ParallelAgent,
  prefixTools,
  Runner,
  rateLimit,
  redact,
  retry,
  SequentialAgent,
  StaticToolset,
  type Tool,
  ToolDispatcher,
  type Toolset,
  timeout,
  tool,
  toolSource,
} from 'toolwright'
import { fromAiSdk, toAiSdkTools } from 'toolwright/ai-sdk'
import { gemini, geminiLive } from 'toolwright/gemini'
import { connectLive, openaiRealtime } from 'toolwright/live'
import { McpToolset, serveMcp } from 'toolwright/mcp'
import { ApiHubToolset, ApiRegistry, OpenApiToolset } from 'toolwright/openapi'
import { postgres } from 'toolwright/postgres'
import { bearerTokens, createServer, oidc } from 'toolwright/server'
import { sqlite } from 'toolwright/sqlite'
import { createToolContext, scriptedLive, scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { silentLogger } from './scenarios/kit.ts'

const SECRET = 'canary-0123456789abcdef'
const KEY = Buffer.from('canary-key-of-thirty-two-bytes-x').toString('base64')

const oauth: AuthConfig = {
  authScheme: {
    type: 'oauth2',
    flows: {
      authorizationCode: {
        authorizationUrl: 'https://127.0.0.1/authorize',
        tokenUrl: `https://127.0.0.1/?key=${SECRET}`,
      },
    },
  },
  rawAuthCredential: {
    authType: 'oauth2',
    oauth2: {
      clientId: 'desk-client',
      clientSecret: SECRET,
      refreshToken: SECRET,
      redirectUri: 'http://127.0.0.1:9/cb',
    },
  },
}
const basic: AuthConfig = {
  authScheme: { type: 'http', scheme: 'basic' },
  rawAuthCredential: {
    authType: 'http',
    http: { scheme: 'basic', credentials: { username: 'ada', password: SECRET } },
  },
}
const apiKey: AuthConfig = {
  authScheme: { type: 'apiKey', in: 'header', name: 'x-key' },
  rawAuthCredential: { authType: 'apiKey', apiKey: SECRET },
}
const custom: AuthConfig = {
  authScheme: { type: 'custom', name: 'signed', salt: SECRET },
  rawAuthCredential: { authType: 'custom', custom: { seed: SECRET, deep: { seed: SECRET } } },
}

const sendsTo = { url: `https://desk:${SECRET}@127.0.0.1/mail`, deep: { headers: [SECRET] } }
const mail = tool({ name: 'mail', description: 'Mail', effect: 'none', authConfig: oauth, sendsTo, run: () => 1 })
const several = tool({
  name: 'several',
  description: 'Several',
  authConfig: [basic, apiKey, custom],
  sendsTo: sendsTo.url,
  run: () => 1,
})
const handWritten: Tool = {
  name: 'hand_written',
  description: 'Written without tool()',
  authConfig: oauth,
  sendsTo,
  declaration: () => ({ name: 'hand_written', description: 'Written without tool()' }),
  run: () => 1,
}
const toolset: Toolset = { name: 'own', authConfig: oauth, sendsTo, listTools: async () => [mail] }
const model = gemini('gemini-2.5-flash', { apiKey: SECRET, headers: { 'x-gateway': SECRET } })
const openapi = new OpenApiToolset({
  auth: { key: apiKey },
  spec: {
    openapi: '3.0.0',
    info: { title: 'Shop', version: '1' },
    servers: [{ url: 'https://127.0.0.1/shop' }],
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-key' } } },
    paths: { '/a': { get: { operationId: 'a', security: [{ key: [] }], responses: { 200: { description: 'ok' } } } } },
  },
})
const mcp = new McpToolset({
  connection: { type: 'http', url: 'http://127.0.0.1:1/mcp', headers: { authorization: SECRET } },
})
const stdio = new McpToolset({ connection: { type: 'stdio', command: 'true', env: { KEY: SECRET } } })
const agent = new LlmAgent({
  name: 'desk',
  description: 'Answers',
  model,
  tools: [mail, several, handWritten, toolset, openapi, mcp, stdio, prefixTools(toolset, 'own_')],
  generateContentConfig: { httpOptions: { headers: { authorization: SECRET } } },
})
const aiModel = {
  specificationVersion: 'v3',
  provider: 'gateway',
  modelId: 'm',
  supportedUrls: {},
  config: { apiKey: SECRET },
  doGenerate: () => {},
  doStream: () => {},
}
const credentialKey = { appName: 'app', userId: 'ada', key: 'mail' }
const credential = oauth.rawAuthCredential ?? { authType: 'oauth2' }
const sealedStore = { load: async () => undefined, save: async () => 1, delete: async () => true }

/** Everything that holds a secret, by the export that made it. */
const holders: { readonly [name: string]: () => unknown } = {
  tool: () => [mail, several, { ...mail }, Object.freeze({ ...several }), [{ deep: { mail } }]],
  background: () => background(mail),
  cached: () => cached(mail),
  concurrency: () => concurrency(mail, 1),
  confirm: () => confirm(handWritten),
  longRunning: () => longRunning(mail),
  rateLimit: () => rateLimit(mail, { max: 1, perMs: 1_000 }),
  redact: () => redact(mail, ['a']),
  retry: () => retry(mail, { attempts: 2 }),
  timeout: () => timeout(confirm(handWritten), 5),
  agentTool: () => agentTool(agent),
  LlmAgent: () => agent,
  SequentialAgent: () => new SequentialAgent({ name: 'flow', subAgents: [agent] }),
  ParallelAgent: () => new ParallelAgent({ name: 'flow', subAgents: [agent] }),
  LoopAgent: () => new LoopAgent({ name: 'flow', subAgents: [agent], maxIterations: 2 }),
  Runner: () => new Runner({ appName: 'app', agent, model, ...sqlite(':memory:', { encryptionKeys: [KEY] }) }),
  ToolDispatcher: () => new ToolDispatcher({ model }).register(mail, handWritten, toolset),
  StaticToolset: () => new StaticToolset([mail, handWritten]),
  prefixTools: () => prefixTools(toolset, 'own_'),
  filterTools: () => filterTools(toolset, ['mail']),
  toolSource: () => toolSource(() => [mail, handWritten]),
  fallback: () => fallback([model, gemini('gemini-2.5-pro', { apiKey: SECRET })]),
  CredentialRequired: () => new CredentialRequired(oauth),
  InMemoryCredentialService: async () => {
    const service = new InMemoryCredentialService()
    await service.save({ ...credentialKey, credential })
    return service
  },
  EncryptedCredentialService: () => new EncryptedCredentialService(sealedStore, { encryptionKeys: [KEY] }),
  fromAiSdk: () => fromAiSdk(aiModel as never), // only what the wrapper reads
  toAiSdkTools: () => toAiSdkTools([mail, handWritten], { userId: 'ada' }),
  gemini: () => model,
  geminiLive: () => geminiLive('gemini-live-2.5-flash-preview', { apiKey: SECRET }),
  openaiRealtime: () => openaiRealtime('gpt-realtime', { apiKey: SECRET, headers: { 'x-gateway': SECRET } }),
  connectLive: async () => await connectLive({ model: scriptedLive([]), tools: [mail, handWritten], userId: 'ada' }),
  McpToolset: () => [mcp, stdio],
  serveMcp: () => serveMcp({ name: 'mail', tools: [mail, handWritten, toolset] }),
  OpenApiToolset: async () => [openapi, await openapi.listTools(createToolContext())],
  ApiHubToolset: () => [
    new ApiHubToolset({ apihubResourceName: 'projects/p/locations/l/apis/a', apihubAuth: basic }),
    new ApiHubToolset({ apihubResourceName: 'projects/p/locations/l/apis/a', accessToken: SECRET }),
  ],
  ApiRegistry: () => new ApiRegistry(),
  createServer: () => createServer({ apps: { desk: agent }, token: SECRET, services: { model } }),
  bearerTokens: () => bearerTokens({ [SECRET]: 'ada' }),
  oidc: () => oidc({ issuer: 'https://127.0.0.1/issuer', audience: 'desk' }),
  postgres: () => postgres(`postgres://ada:${SECRET}@127.0.0.1:1/shop`, { encryptionKeys: [KEY] }),
  sqlite: async () => {
    const services = sqlite(':memory:', { encryptionKeys: [KEY] })
    await services.credentialService.save({ ...credentialKey, credential })
    return services
  },
}

/** Exports that keep nothing of the developer, or nothing that is a secret. */
const HOLD_NO_SECRET: ReadonlySet<string> = new Set(
  `
  LogReader answerLater checkInboxItem checkPendingRequest checkPin checkSessionFilter checkSessionKey importedEvents readLog toStorableEntry
  FallbackError InMemoryArtifactService InMemoryLimitService InMemoryMemoryService InMemoryScheduleService InMemorySessionService InMemoryWorkerService memoryPlugin ToolError ToolwrightError
  approve codeExecution createEvent deny discoveryEngineSearch enterpriseWebSearch exampleTool exitLoop
  functionCallsOf getUserChoice googleMapsGrounding googleSearch isFinalResponse loadArtifacts loadMemory
  parseArtifactUri preloadMemory respond textOf transferToAgent urlContext vertexAiSearch withParts AiSdkError
  aiSdkProviderTool fromAiSdkTools AuthError applyCredential beginConsent completeConsent setOAuthLibrary docker
  isolatedProcess quickjs unisolatedLocalProcess GeminiError LiveConnectionError all any becameFalse becameTrue
  changed changedFrom changedTo crossedAbove crossedBelow conversationPhases equals isSet isTrue not oneOf stateKey
`.split(/\s+/),
)

function printed(value: unknown): string[] {
  return [
    inspect(value),
    inspect(value, { depth: Number.POSITIVE_INFINITY }),
    inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true }),
    inspect(value, { depth: Number.POSITIVE_INFINITY, getters: true }),
    JSON.stringify(value) ?? '',
  ]
}

describe('secrets of the developer are not printed by', () => {
  test.each(Object.keys(holders))('%s', async (name) => {
    const holder = await holders[name]?.()
    for (const text of printed(holder)) {
      expect(text).not.toContain(SECRET)
      expect(text).not.toContain(KEY)
    }
  })

  test('the contexts of a tool, a toolset, callbacks and instructions', async () => {
    const contexts = new Map<string, unknown>()
    const spy = tool({
      name: 'spy',
      description: 'Spies',
      authConfig: [basic, apiKey],
      run: (_, context) => void contexts.set('tool', context),
    })
    const spies: Toolset = {
      name: 'spies',
      authConfig: apiKey,
      listTools: async (context) => {
        contexts.set('toolset', context)
        return []
      },
    }
    const spying = new LlmAgent({
      name: 'spying',
      model: scriptedModel([{ calls: [{ name: 'spy' }] }, 'done']),
      tools: [spy, spies, handWritten],
      instruction: (context) => {
        contexts.set('instruction', context)
        return ''
      },
      beforeAgent: (context) => void contexts.set('beforeAgent', context),
      beforeModel: (call) => void contexts.set('beforeModel', call),
      beforeTool: (call) => void contexts.set('beforeTool', call),
    })
    const runner = new Runner({ appName: 'app', agent: spying, model, logger: silentLogger })
    const run = runner.run({ userId: 'ada', message: 'Go' })
    for await (const _ of run);
    expect([...contexts.keys()].sort()).toEqual([
      'beforeAgent',
      'beforeModel',
      'beforeTool',
      'instruction',
      'tool',
      'toolset',
    ])
    for (const context of [...contexts.values(), run]) {
      for (const text of printed(context)) expect(text).not.toContain(SECRET)
    }
  })
})

test('every export was considered: it is above, or it holds no secret', () => {
  const entryPoints = [
    '',
    '-ai-sdk',
    '-auth',
    '-code',
    '-gemini',
    '-live',
    '-mcp',
    '-openapi',
    '-postgres',
    '-server',
    '-sqlite',
  ]
  const names = entryPoints.flatMap((name) => readFileSync(`test/exports/toolwright${name}.txt`, 'utf8').split('\n'))
  const values = names.filter((name) => name !== '' && !name.startsWith('type '))
  expect(values.filter((name) => !(name in holders) && !HOLD_NO_SECRET.has(name))).toEqual([])
})

describe('what hides secrets still works:', () => {
  test('the body gets its credential as plain data', async () => {
    const got: string[] = []
    const spy = tool({
      name: 'spy',
      description: 'Spies',
      authConfig: [basic, apiKey],
      run: (_, { authCredentials }) => void got.push(JSON.stringify(authCredentials)),
    })
    for (const one of [spy, { ...spy }, timeout(spy, 1_000)]) {
      const asking = scriptedModel([{ calls: [{ name: 'spy' }] }, 'done'])
      const spying = new LlmAgent({ name: 'spying', model: asking, tools: [one] })
      await new Runner({ appName: 'app', agent: spying }).complete({ userId: 'ada', message: 'Go' })
    }
    const expected = JSON.stringify([basic.rawAuthCredential, apiKey.rawAuthCredential])
    expect(got).toEqual([expected, expected, expected])
  })

  test('the developer can read, compare, spread and change the configuration', () => {
    const config = { ...apiKey, rawAuthCredential: { authType: 'apiKey', apiKey: 'first' } }
    const made = tool({ name: 'one', description: 'One', authConfig: config, run: () => 1 })
    const own = made.authConfig as AuthConfig
    expect(own).toEqual(config)
    expect({ ...own }).toEqual(config)
    expect(structuredClone({ ...own, rawAuthCredential: { ...own.rawAuthCredential } })).toEqual(config)
    config.rawAuthCredential.apiKey = 'second' // a rotated key
    expect(own.rawAuthCredential?.apiKey).toBe('second')
    expect(tool({ name: 'two', description: 'Two', authConfig: own, run: () => 1 }).authConfig).toBe(own)
  })

  test('names and public members are printed', () => {
    expect(inspect(mail, { depth: 9 })).toContain("clientId: 'desk-client'")
    expect(inspect(mail, { depth: 9 })).toContain("clientSecret: '[hidden]'")
    expect(JSON.parse(JSON.stringify(mail)).authConfig.rawAuthCredential.oauth2.clientId).toBe('desk-client')
    expect(inspect(agent)).toMatch(/LlmAgent.*name: 'desk'/s)
    expect(inspect(agent)).toContain("'hand_written'")
    expect(inspect(new Runner({ appName: 'app', agent }))).toMatch(/Runner.*appName: 'app', agent: 'desk'/s)
  })
})
