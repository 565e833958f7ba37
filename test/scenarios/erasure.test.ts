// The end of a user's data: everything goes, nothing comes back, and an export has all of it before.
import { background, InMemoryMemoryService, LlmAgent, Runner, type ToolContext, tool } from 'toolwright'
import { files } from 'toolwright/files'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../src/apps/sqlite/temporary-file.test-kit.ts'
import { stores } from '../stores.ts'

const app = { appName: 'shop' }
const ada = { ...app, userId: 'ada', sessionId: 's1' }
const where = { userId: 'ada', sessionId: 's1' }
const silent = { warn: () => {}, error: () => {} }

const kinds = [
  ...stores.map(({ name, open }) => ({
    name,
    open: () => ({ memoryService: new InMemoryMemoryService(), ...open() }),
  })),
  {
    name: 'in memory with artifacts in a folder',
    open: () => ({ memoryService: new InMemoryMemoryService(), ...stores[0]?.open(), ...files(temporaryFolder()) }),
  },
] as { name: string; open: () => ReturnType<(typeof stores)[0]['open']> & { memoryService: InMemoryMemoryService } }[]

/** A runner of a user who has something in every service. */
async function furnished(open: (typeof kinds)[0]['open']) {
  const services = open()
  const model = scriptedModel(['Noted.', { calls: [{ id: 'c1', name: 'pay' }] }, ...Array(9).fill('Done.')])
  const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run: () => 'paid' })
  const agent = new LlmAgent({ name: 'clerk', model, tools: [pay] })
  const runner = new Runner({ ...app, agent, ...services, logger: silent })
  onTestFinished(() => runner.close())
  await runner.complete({
    ...where,
    message: 'canary-log',
    stateDelta: { 'user:name': 'canary-user', own: 'canary-own' },
  })
  await runner.complete({ userId: 'ada', sessionId: 's2', message: 'Pay.' })
  const { artifactService, credentialService, memoryService, sessionService } = services
  await artifactService.saveArtifact({ ...ada, filename: 'a.txt', artifact: { text: 'canary-file' } })
  await artifactService.saveArtifact({ ...ada, filename: 'user:b.txt', artifact: { text: 'canary-shared' } })
  await credentialService.save({ ...ada, key: 'crm', credential: { authType: 'apiKey', apiKey: 'canary-secret' } })
  const session = await sessionService.getSession(ada)
  if (session) await memoryService.addSessionToMemory(session)
  await runner.complete({ userId: 'eve', sessionId: 's1', message: 'kept', stateDelta: { 'user:name': 'Eve' } })
  await artifactService.saveArtifact({ ...ada, userId: 'eve', filename: 'a.txt', artifact: { text: 'kept' } })
  const at = new Date(Date.now() + 86_400_000)
  for (const userId of ['ada', 'eve']) await runner.schedule({ userId, sessionId: 's1', message: 'canary-tick', at })
  const everything = async (userId: string): Promise<string> => {
    const items: unknown[] = []
    for await (const item of runner.exportUser({ userId })) items.push(item)
    return JSON.stringify(items)
  }
  return { runner, services, everything }
}

describe.each(kinds)('a user, with services $name,', ({ open }) => {
  test('is exported with everything but secrets, one item at a time', async () => {
    const { runner } = await furnished(open)
    const items: { type: string }[] = []
    for await (const item of runner.exportUser({ userId: 'ada' })) items.push(item)
    const counts = Map.groupBy(items, ({ type }) => type)
    expect(Object.fromEntries([...counts].map(([type, of]) => [type, of.length]))).toMatchObject({
      state: 1,
      session: 2,
      pending: 1,
      artifact: 2,
      memory: 2,
      credential: 1,
      schedule: 1,
    })
    const text = JSON.stringify(items)
    for (const canary of ['log', 'user', 'own', 'file', 'shared', 'tick']) expect(text).toContain(`canary-${canary}`)
    expect(text).toContain('"key":"crm"')
    expect(text).not.toContain('canary-secret')
    expect(text).not.toContain('kept')
  })

  test('is deleted from every service, again without effect, and others stay', async () => {
    const { runner, services, everything } = await furnished(open)
    const ofEve = await everything('eve')
    await runner.deleteUser({ userId: 'ada' })
    await runner.deleteUser({ userId: 'ada' })
    expect(await everything('ada')).toBe('[]')
    expect(await runner.pending({ userId: 'ada' })).toEqual([])
    expect(await services.credentialService.load({ ...ada, key: 'crm' })).toBeUndefined()
    expect(await services.artifactService.loadArtifact({ ...ada, filename: 'user:b.txt' })).toBeUndefined()
    expect((await services.memoryService.searchMemory({ ...ada, query: 'canary-log noted' })).memories).toEqual([])
    expect(await everything('eve')).toBe(ofEve)
    const again = await runner.complete({ ...where, message: 'Hello' })
    expect((await services.sessionService.getSession(ada))?.state).toEqual({})
    expect(again.text).toBe('Done.')
  })

  test('leaves nothing behind if a service fails at first and the deletion is repeated', async () => {
    const { runner, services, everything } = await furnished(open)
    const { memoryService } = services
    const deleteUser = memoryService.deleteUser.bind(memoryService)
    memoryService.deleteUser = () => Promise.reject(new Error('The memory is away.'))
    await expect(runner.deleteUser({ userId: 'ada' })).rejects.toThrow('The memory is away.')
    memoryService.deleteUser = deleteUser
    await runner.deleteUser({ userId: 'ada' })
    expect(await everything('ada')).toBe('[]')
  })

  test.each(['deleteSession', 'deleteUser'] as const)(
    'cannot come back through a run that is under way: %s ends it with SESSION_GONE',
    async (method) => {
      const inside = Promise.withResolvers<ToolContext>()
      const go = Promise.withResolvers<void>()
      const ends: unknown[] = []
      const save = tool({
        name: 'save',
        description: 'Saves late, also after a cancellation',
        run: async (_, context) => {
          inside.resolve(context)
          await go.promise
          for (const name of ['late.txt', 'user:late.txt'])
            await context.saveArtifact(name, { text: 'canary-late' }).catch((error) => ends.push(error.code))
          await context.saveCredential('late', { authType: 'apiKey', apiKey: 'canary-late' })
          return 'saved'
        },
      })
      const { services } = await furnished(open)
      const slow = new Runner({
        ...app,
        agent: new LlmAgent({ name: 'clerk', model: scriptedModel([{ calls: [{ name: 'save' }] }]), tools: [save] }),
        ...services,
        logger: silent,
      })
      onTestFinished(() => slow.close())
      const ended = slow.complete({ ...where, message: 'Save it.' }).catch((error) => error.code)
      await inside.promise
      const options = method === 'deleteUser' ? { userId: 'ada' } : where
      await slow[method](options as typeof where)
      expect(await ended).toBe('SESSION_GONE')
      go.resolve()
      await expect.poll(() => ends.length).toBe(2)
      expect(ends).toEqual(['SESSION_GONE', 'SESSION_GONE'])
      const names = await services.artifactService.listArtifactKeys(ada)
      // what belongs to the user stays when only a session is deleted
      expect(names).toEqual(method === 'deleteUser' ? [] : ['user:b.txt', 'user:late.txt'])
      const keys = async () => await services.credentialService.list?.(ada)
      await expect.poll(keys).toEqual(method === 'deleteUser' ? [] : ['crm', 'late'])
      expect(await services.sessionService.getSession(ada)).toBeUndefined()
    },
  )

  test('gets no result of a background call after the session was deleted', async () => {
    const started = Promise.withResolvers<AbortSignal>()
    const render = background(
      tool({
        name: 'render',
        description: 'Renders',
        effect: 'none',
        run: (_, { signal }) => {
          started.resolve(signal)
          return new Promise((resolve) => signal.addEventListener('abort', () => resolve({ image: 'canary-late' })))
        },
      }),
    )
    const services = open()
    const model = scriptedModel([{ calls: [{ name: 'render' }] }, 'It renders.', 'Done.'])
    const runner = new Runner({
      ...app,
      agent: new LlmAgent({ name: 'clerk', model, tools: [render] }),
      ...services,
      logger: silent,
    })
    onTestFinished(() => runner.close())
    await runner.complete({ ...where, message: 'Render it.' })
    const signal = await started.promise
    await runner.deleteSession(where)
    expect(signal.aborted).toBe(true)
    await runner.internals.backgroundOf(where)
    expect(await services.sessionService.getSession(ada)).toBeUndefined()
  })
})

test('a store that cannot delete users is refused before anything is deleted', async () => {
  const services = stores[0]?.open()
  if (!services) throw new Error('There is no store.')
  const sessionService = Object.assign(services.sessionService, { deleteUser: undefined })
  const runner = new Runner({
    ...app,
    agent: new LlmAgent({ name: 'clerk', model: scriptedModel([]) }),
    ...services,
    sessionService,
  })
  await sessionService.createSession(ada)
  await services.artifactService.saveArtifact({ ...ada, filename: 'a.txt', artifact: { text: 'kept' } })
  await expect(runner.deleteUser({ userId: 'ada' })).rejects.toMatchObject({
    code: 'INVALID_CONFIG',
    message: expect.stringContaining('it has no deleteUser()'),
  })
  expect(await services.artifactService.listArtifactKeys(ada)).toEqual(['a.txt'])
})

test('a deletion without a user is refused, and deletes nothing', async () => {
  const services = stores[0]?.open()
  const runner = new Runner({ ...app, agent: new LlmAgent({ name: 'clerk', model: scriptedModel([]) }), ...services })
  await services?.sessionService.createSession(ada)
  await expect(runner.deleteUser({} as { userId: string })).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  await expect(runner.exportUser({} as { userId: string }).next()).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  expect(await services?.sessionService.getSession(ada)).toBeDefined()
})

test('artifacts of a store that deletes one at a time are listed and deleted', async () => {
  const services = stores[0]?.open()
  if (!services) throw new Error('There is no store.')
  const artifactService = Object.assign(services.artifactService, { deleteUser: undefined, deleteSession: undefined })
  const runner = new Runner({
    ...app,
    agent: new LlmAgent({ name: 'clerk', model: scriptedModel([]) }),
    ...services,
    artifactService,
  })
  await services.sessionService.createSession(ada)
  for (const filename of ['a.txt', 'user:b.txt'])
    await artifactService.saveArtifact({ ...ada, filename, artifact: { text: 'x' } })
  await runner.deleteUser({ userId: 'ada' })
  expect(await artifactService.listArtifactKeys(ada)).toEqual([])
})

test('an export reports a damaged entry with its place, and has the rest', async () => {
  const services = stores[0]?.open()
  if (!services) throw new Error('There is no store.')
  const { sessionService } = services
  const readLog = sessionService.readLog?.bind(sessionService)
  if (!readLog) throw new Error('The store cannot read logs.')
  sessionService.readLog = async (options) => {
    const page = await readLog(options)
    if (page?.entries.some(({ seq }) => seq === 2)) throw new Error('entry 2 is not JSON')
    return page
  }
  const warnings: string[] = []
  const logger = { warn: (message: string) => void warnings.push(message), error: () => {} }
  const agent = new LlmAgent({ name: 'clerk', model: scriptedModel(['one', 'two']) })
  const runner = new Runner({ ...app, agent, ...services, logger })
  await runner.complete({ ...where, message: 'first' })
  await runner.complete({ ...where, message: 'second' })
  const items: unknown[] = []
  for await (const item of runner.exportUser({ userId: 'ada' })) items.push(item)
  expect(items).toContainEqual({ type: 'unreadable', what: 'entry 2 of session "s1"' })
  expect(warnings).toEqual(['The export of a user lacks entry 2 of session "s1": entry 2 is not JSON'])
  const entries = items.filter((item) => (item as { type: string }).type === 'entry') as { entry: { seq: number } }[]
  expect(entries.map(({ entry }) => entry.seq)).toEqual([1, 3, 4])
})
