// Deleted sessions: what other stores hold for a session goes with it, and what belongs to the user stays.
import { LlmAgent, Runner, tool } from 'toolwright'
import { createServer } from 'toolwright/server'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { type Store, stores } from '../stores.ts'

const app = { appName: 'shop' }
const ada = { ...app, userId: 'ada' }
const text = { text: 'a file' }

const mail = tool({
  name: 'mail',
  description: 'Sends a mail',
  authConfig: {
    authScheme: {
      type: 'oauth2',
      flows: {
        authorizationCode: {
          authorizationUrl: 'https://auth.example/authorize',
          tokenUrl: 'https://auth.example/token',
          scopes: { mail: 'Send mail' },
        },
      },
    },
    rawAuthCredential: {
      authType: 'oauth2',
      oauth2: { clientId: 'desk', clientSecret: 'secret of the client', redirectUri: 'https://app.example/callback' },
    },
  },
  run: () => 'sent',
})

/** A runner whose sessions "s1" and "s2" of ada, and "s1" of eve, wait for a consent and have a file. */
async function waitingShop(open: Store['open']) {
  const services = open()
  const model = scriptedModel(Array.from({ length: 3 }, () => ({ calls: [{ name: 'mail' }] })))
  const runner = new Runner({ ...app, agent: new LlmAgent({ name: 'clerk', model, tools: [mail] }), ...services })
  for (const who of [
    { userId: 'ada', sessionId: 's1' },
    { userId: 'ada', sessionId: 's2' },
    { userId: 'eve', sessionId: 's1' },
  ]) {
    await runner.complete({ ...who, message: 'Mail it.' })
    await services.artifactService.saveArtifact({ ...app, ...who, filename: 'own.txt', artifact: text })
  }
  await services.artifactService.saveArtifact({ ...ada, sessionId: 's1', filename: 'user:all.txt', artifact: text })
  const credential = { authType: 'apiKey', apiKey: 'key of ada' } as const
  await services.credentialService.save({ ...ada, key: 'crm', credential })
  const left = async (userId: string, sessionId: string) => ({
    files: await services.artifactService.listArtifactKeys({ ...app, userId, sessionId }),
    consents: (await runner.pending({ userId, sessionId })).map(({ id }) => `consent:${id}`),
    keys: (await services.credentialService.list?.({ ...app, userId })) ?? [],
  })
  return { runner, services, left }
}

describe.each(stores)('deleting a session, with sessions $name,', ({ open }) => {
  test.each([
    [
      'runner.deleteSession()',
      async (runner: Runner) => await runner.deleteSession({ userId: 'ada', sessionId: 's1' }),
    ],
    [
      'the server',
      async (runner: Runner) => {
        const server = createServer({ apps: { shop: runner }, token: 'token-of-the-test' })
        const headers = { authorization: `Bearer ${server.token}` }
        const url = 'http://127.0.0.1/apps/shop/users/ada/sessions/s1'
        expect((await server.fetch(new Request(url, { method: 'DELETE', headers }))).status).toBe(200)
      },
    ],
  ])('by %s, deletes its consents and artifacts, and nothing of the user or of other sessions', async (_, remove) => {
    const { runner, services, left } = await waitingShop(open)
    const [before, other, eve] = [await left('ada', 's1'), await left('ada', 's2'), await left('eve', 's1')]
    expect([before.files, before.consents.length, before.keys.length]).toEqual([['own.txt', 'user:all.txt'], 1, 3])
    await remove(runner)
    expect(await services.sessionService.getSession({ ...ada, sessionId: 's1' })).toBeUndefined()
    const keys = [...other.consents, 'crm']
    expect(await left('ada', 's1')).toEqual({ files: ['user:all.txt'], consents: [], keys })
    expect(await left('ada', 's2')).toEqual({ ...other, keys })
    expect(await left('eve', 's1')).toEqual(eve)
  })

  test('deletes all of its artifacts, also if there are more than one page has', async () => {
    const { runner, services, left } = await waitingShop(open)
    for (let n = 0; n < 250; n++)
      await services.artifactService.saveArtifact({ ...ada, sessionId: 's1', filename: `file-${n}`, artifact: text })
    await runner.deleteSession({ userId: 'ada', sessionId: 's1' })
    expect((await left('ada', 's1')).files).toEqual(['user:all.txt'])
  })

  test('without a session id is refused, and deletes nothing', async () => {
    const { runner, left } = await waitingShop(open)
    const before = await left('ada', 's1')
    const remove = runner.deleteSession({ userId: 'ada' } as { userId: string; sessionId: string })
    await expect(remove).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    expect(await left('ada', 's1')).toEqual(before)
  })

  test('that does not exist does nothing', async () => {
    const { runner, left } = await waitingShop(open)
    const before = await left('ada', 's1')
    await runner.deleteSession({ userId: 'ada', sessionId: 'missing' })
    expect(await left('ada', 's1')).toEqual(before)
  })
})

test('a session whose requests cannot be read is deleted, and the operator is warned', async () => {
  const [memory] = stores
  const services = memory?.open()
  if (!services) throw new Error('There is no store.')
  const sessionService = Object.assign(services.sessionService, {
    pending: async () => {
      throw new Error('the row is damaged')
    },
  })
  const warnings: string[] = []
  const logger = { warn: (problem: string) => void warnings.push(problem), error: () => {} }
  const agent = new LlmAgent({ name: 'clerk', model: scriptedModel([]) })
  const runner = new Runner({ ...app, agent, ...services, sessionService, logger })
  await sessionService.createSession({ ...ada, sessionId: 's1' })
  await runner.deleteSession({ userId: 'ada', sessionId: 's1' })
  expect(await sessionService.getSession({ ...ada, sessionId: 's1' })).toBeUndefined()
  expect(warnings).toEqual([expect.stringContaining('The consents of session "s1" were not deleted')])
})
