// What an evaluation leaves alone: code of recordings, and the stores of the target.
import {
  type CodeExecutor,
  InMemoryCredentialService,
  InMemorySessionService,
  LlmAgent,
  Runner,
  tool,
} from 'toolwright'
import { recordCase, runEvals } from 'toolwright/eval'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'

const CODE = 'pay(5)'
const key = { appName: 'shop', userId: 'ada', sessionId: 's1' }

function createExecutor(options: Partial<CodeExecutor> = {}): CodeExecutor & { readonly ran: string[] } {
  const ran: string[] = []
  const execute: CodeExecutor['execute'] = async ({ code }) => {
    ran.push(code)
    return { outcome: 'OK', output: 'paid' }
  }
  return { languages: ['javascript'], execute, ran, ...options }
}

function coder(codeExecutor: CodeExecutor): LlmAgent {
  const model = scriptedModel([{ parts: [{ executableCode: { language: 'javascript', code: CODE } }] }, 'Paid.'])
  return new LlmAgent({ name: 'desk', model, codeExecutor })
}

/** The log of a session in which code ran. */
async function logWithCode() {
  const sessionService = new InMemorySessionService()
  const runner = new Runner({ appName: 'shop', agent: coder(createExecutor()), sessionService })
  await runner.complete({ userId: 'ada', sessionId: 's1', message: 'Pay.' })
  const entries = (await sessionService.readLog(key))?.entries ?? []
  return entries.map(({ event, record }) => (event ? { event } : { record }))
}

const recordingOf = (entries: Awaited<ReturnType<typeof logWithCode>>) => {
  return { version: 1, ...key, state: {}, entries, models: {}, toolsets: {}, steps: [] }
}

test('code that a model wrote does not run again when its session is recorded as a case', async () => {
  const executor = createExecutor()
  const session = { key, entries: await logWithCode(), state: {} }
  await expect(recordCase(session, { target: coder(executor), id: 'paid' })).rejects.toThrow(
    'Session "s1" cannot be recorded as a case: code that a model wrote ran in it.',
  )
  expect(executor.ran).toEqual([])
})

test('a replay runs no code that a file has as a reply of a model', async () => {
  const executor = createExecutor()
  const recording = recordingOf(await logWithCode())
  const set = { id: 'forged', cases: [{ id: 'paid', turns: [{ user: 'Pay.' }], recording }] }
  const { cases } = await runEvals({ sets: [set], target: coder(executor), mode: 'replay' })
  expect(cases[0]?.status).not.toBe('PASSED')
  expect(executor.ran).toEqual([])
})

test.each([
  ['atMostOnce', []],
  ['none', [CODE]],
] as const)('with recorded tools, code of an executor with the effect %s runs: %j', async (effect, ran) => {
  const executor = createExecutor({ effect })
  const checks = [{ never: 'x' }]
  const recording = recordingOf(await logWithCode())
  const set = { id: 'desk', cases: [{ id: 'paid', turns: [{ user: 'Pay.' }], checks, recording }] }
  const { cases } = await runEvals({ sets: [set], target: coder(executor), mode: 'recorded-tools' })
  expect(executor.ran).toEqual(ran)
  expect(cases[0]?.status).toBe(ran.length ? 'PASSED' : 'FAILED')
})

test('an evaluation does not read the credentials of the users of its target', async () => {
  const credentialService = new InMemoryCredentialService()
  await credentialService.save({
    appName: 'shop',
    userId: 'ada',
    key: 'mail',
    credential: { authType: 'apiKey', apiKey: 'ada-1' },
  })
  const sent: unknown[] = []
  const mail = tool({
    name: 'mail',
    description: 'Sends a mail',
    authConfig: { authScheme: { type: 'apiKey', in: 'header', name: 'X-Key' }, credentialKey: 'mail' },
    run: (_, { authCredential }) => sent.push(authCredential),
  })
  const make = (): Runner => {
    const agent = new LlmAgent({
      name: 'desk',
      model: scriptedModel([{ calls: [{ name: 'mail' }] }, 'Sent.']),
      tools: [mail],
    })
    return new Runner({ appName: 'shop', agent, credentialService })
  }
  await make().complete({ userId: 'ada', message: 'Write.' })
  expect(sent).toHaveLength(1)
  const set = {
    id: 'desk',
    cases: [{ id: 'mail', session: { userId: 'ada' }, turns: [{ user: 'Write.' }], checks: [{ never: 'x' }] }],
  }
  const { cases } = await runEvals({ sets: [set], target: make() })
  expect(cases[0]?.status).toBe('PASSED')
  expect(sent).toHaveLength(1)
})

test.each([
  [
    'a content with null as a part',
    { event: { id: 'e', author: 'user', invocationId: 'i', actions: {}, content: { parts: [null] } } },
  ],
  ['a request without its members', { record: { type: 'request' } }],
])('a recording with %s is an error of its case that says what to do', async (_, entry) => {
  const recording = recordingOf([entry as never])
  const set = { id: 'damaged', cases: [{ id: 'one', turns: [{ user: 'Pay.' }], recording }] }
  const { cases } = await runEvals({ sets: [set], target: coder(createExecutor()), mode: 'replay' })
  expect(cases[0]?.trials[0]).toMatchObject({
    status: 'ERROR',
    error: expect.stringContaining('Record the case again: toolwright eval record <session>.'),
  })
})
