import { type AuthConfig, LlmAgent, Runner, retry, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'

const authConfig: AuthConfig = {
  authScheme: { type: 'apiKey', in: 'header', name: 'X-Key' },
  rawAuthCredential: { authType: 'apiKey', apiKey: 'sk-topsecret-123456' },
}

test('a credential in the message of a thrown error reaches neither the model, the events nor the log of the operator', async () => {
  const logged: unknown[] = []
  const log = (...all: unknown[]): void => {
    for (const one of all) logged.push(one instanceof Error ? `${one.message} ${one.stack}` : one)
  }
  const fetchIt = tool({
    name: 'fetch_it',
    description: 'Fetches',
    effect: 'none',
    authConfig,
    run: (_, { authCredential }) => {
      throw new Error(`GET /x?key=${authCredential?.apiKey} failed`)
    },
  })
  const model = scriptedModel([{ calls: [{ name: 'fetch_it' }] }, 'Done.'])
  const agent = new LlmAgent({ name: 'desk', model, tools: [retry(fetchIt, { attempts: 2, delayMs: 0 })] })
  const runner = new Runner({ appName: 'app', agent, logger: { warn: log, error: log } })
  const { events } = await runner.complete({ userId: 'ada', message: 'Go.' })
  expect(JSON.stringify(events)).toContain('GET /x?key=[hidden] failed')
  expect(JSON.stringify(logged)).toContain('[hidden]')
  expect(JSON.stringify([events, model.requests, logged])).not.toContain('topsecret')
})
