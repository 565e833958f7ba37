// The chat with a tool that needs a consent, against a real authorization server.
import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { scriptedModel } from '../../../adapters/testing/scripted-model.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import { Runner } from '../../../engine/runner/runner.ts'
import { tool } from '../../../engine/tool/define-tool.ts'
import type { Toolset } from '../../../engine/tool/toolset.ts'
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from '../../../services/auth/authorization-server.test-kit.ts'
import { UserAgent } from '../../../services/auth/user-agent.test-kit.ts'
import { InMemoryCredentialService } from '../../../services/credential/in-memory.ts'
import { freePort } from '../consent/free-port.test-kit.ts'
import { createInterrupts } from '../input/interrupts.ts'
import { fixedLines, type LineSource } from '../input/line-source.ts'
import { pipedLines } from '../input/piped-lines.ts'
import { Screen } from '../screen/screen.ts'
import { type ChatResult, chat } from './chat.ts'

let server: AuthorizationServer
const tokens: (string | undefined)[] = []
beforeEach(async () => {
  const port = await freePort()
  server = await startAuthorizationServer({ client: { redirect_uris: [`http://127.0.0.1:${port}/callback`] } })
  tokens.length = 0
})
afterEach(async () => await server.close())

interface Setting {
  readonly output: PassThrough
  readonly input: PassThrough
  pressCtrlC(): void
  start(openBrowser?: (url: string) => void, answers?: LineSource): Promise<ChatResult>
}

interface SetUpOptions {
  readonly calls?: readonly string[]
  readonly now?: () => number
  /** Does the toolset that lists the tool need the consent too? */
  readonly isToolset?: boolean
}

function setUp({ calls = ['mail'], now, isToolset }: SetUpOptions = {}): Setting {
  const mail = tool({
    name: 'mail',
    description: 'Sends a mail',
    authConfig: server.oauth2Config(),
    run: (_args, { authCredential }) => {
      tokens.push(authCredential?.oauth2?.accessToken)
      return 'sent'
    },
  })
  const mailbox: Toolset = { name: 'mailbox', authConfig: server.oauth2Config(), listTools: async () => [mail] }
  const model = scriptedModel([{ calls: calls.map((name) => ({ name })) }, 'Done.'])
  const runner = new Runner({
    appName: 'test',
    agent: new LlmAgent({ name: 'root', model, tools: [isToolset ? mailbox : mail] }),
    credentialService: new InMemoryCredentialService(),
    logger: { warn: () => {}, error: () => {} },
    ...(now && { ports: { now } }),
  })
  const signals = new EventEmitter()
  const interrupts = createInterrupts(signals, { onUnhandled: () => {} })
  const output = new PassThrough({ encoding: 'utf8' })
  const input = new PassThrough()
  const start: Setting['start'] = (openBrowser, answers = pipedLines({ input, output }, interrupts)) =>
    chat(runner, fixedLines(['mail it']), {
      screen: new Screen({ output, env: {} }),
      interrupts,
      userId: 'ada',
      answers,
      openBrowser,
      continueHint: () => 'Continue.',
    })
  return { output, input, start, pressCtrlC: () => void signals.emit('SIGINT') }
}

/** A browser in which the user signs in and consents. */
async function signIn(authUri: string): Promise<void> {
  await fetch(await new UserAgent().consent(authUri))
}

test('the chat signs in with the browser, and the tool runs with the token', async () => {
  const { start, output } = setUp()
  const openBrowser = vi.fn((url: string) => void signIn(url))
  expect(await start(openBrowser)).toEqual({ turns: 2, failed: 0, hasOpenRequests: false })
  expect(openBrowser).toHaveBeenCalledTimes(1)
  expect(await server.useToken(tokens[0] ?? '')).toBe(200)
  const text = String(output.read())
  expect(text).toContain(`? mail needs you to sign in\n    Provider: ${server.issuer}\n    Scopes: openid, offline_`)
  expect(text).toContain(`\n${openBrowser.mock.lastCall?.[0]}\n`)
  expect(text).toMatch(/✓ mail\n[\s\S]*Done\.\n$/)
  await expect(fetch(server.redirectUri)).rejects.toThrow() // the port is free again
})

test('the chat asks once for calls that need the same credential', async () => {
  const { start, output } = setUp({ calls: ['mail', 'mail', 'mail'] })
  expect(await start((url) => void signIn(url))).toMatchObject({ failed: 0 })
  expect(tokens).toHaveLength(3)
  expect(String(output.read()).match(/needs you to sign in/g)).toHaveLength(1)
})

test('the chat signs in for a toolset, and its tools need no other sign-in', async () => {
  const { start, output } = setUp({ isToolset: true })
  expect(await start((url) => void signIn(url))).toMatchObject({ failed: 0, hasOpenRequests: false })
  expect(tokens).toHaveLength(1)
  expect(String(output.read()).match(/needs you to sign in/g)).toHaveLength(1)
})

test('the chat takes a pasted callback URL', async () => {
  const { start, input } = setUp()
  const paste = async (url: string): Promise<void> => void input.write(`${await new UserAgent().consent(url)}\n`)
  expect(await start((url) => void paste(url))).toMatchObject({ failed: 0 })
  expect(tokens).toHaveLength(1)
})

test.each([
  ['no', (setting: Setting) => void setting.input.write('no\n')],
  ['Ctrl+C', (setting: Setting) => setting.pressCtrlC()],
])('the chat declines all sign-ins for the credential with %s, and the run continues', async (_, decline) => {
  const setting = setUp({ calls: ['mail', 'mail'] })
  expect(await setting.start(() => void setImmediate(() => decline(setting)))).toMatchObject({ failed: 0, turns: 2 })
  expect(tokens).toEqual([])
  const text = String(setting.output.read())
  expect(text.match(/needs you to sign in/g)).toHaveLength(1)
  expect(text).toMatch(/Done\.\n$/)
})

test('the chat leaves the sign-in open when the answers end', async () => {
  const { start, output } = setUp()
  expect(await start(undefined, fixedLines([]))).toMatchObject({ hasOpenRequests: true })
  expect(output.read()).toMatch(/Still open: sign-in for mail\nContinue\.\n$/)
})

test('the chat shows that a sign-in has expired, and asks again with a new link', async () => {
  let now = Date.now()
  const { start, output } = setUp({ now: () => now })
  const links: string[] = []
  const result = await start((url) => {
    if (links.push(url) === 1) now += 11 * 60 * 1000
    void signIn(url)
  })
  expect(result).toMatchObject({ failed: 1, hasOpenRequests: false })
  expect(new Set(links).size).toBe(2)
  expect(output.read()).toMatch(/! EXPIRED: [\s\S]*needs you to sign in[\s\S]*✓ mail\n/)
  expect(tokens).toHaveLength(1)
})
