// A background call whose body runs in another process over the same file, or whose process has died.
import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Effect, LlmAgent, type PendingRequest, Runner, respond } from 'toolwright'
import { bearerTokens, createServer } from 'toolwright/server'
import { type SqliteServices, sqlite } from 'toolwright/sqlite'
import { type ScriptedModel, scriptedModel } from 'toolwright/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type BackgroundChild, searchTool, where } from './background-kit.ts'
import { silentLogger } from './kit.ts'

vi.setConfig({ testTimeout: 30_000 })

const program = fileURLToPath(new URL('./background-child.ts', import.meta.url))
const execArgv = ['--conditions=toolwright:source', '--disable-warning=ExperimentalWarning']
/** The body of a tool without `timeout()` ends within 30 s; a minute later its process counts as dead. */
const LATER_MS = 120_000

interface OtherProcess {
  readonly services: SqliteServices
  readonly request: PendingRequest
  /** The runs of the body, in all processes. */
  runs(): number
  /** Ends the body, and waits until its result is recorded. */
  finish(): Promise<void>
  kill(): Promise<void>
  /** A runner of this process over the same file. */
  runner(later?: number): { readonly runner: Runner; readonly model: ScriptedModel }
}

/** Starts a process whose background call runs. */
async function startSearch(effect: Effect): Promise<OtherProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-'))
  const [file, ledger] = [join(folder, 'app.db'), join(folder, 'ledger')]
  writeFileSync(ledger, '')
  const services = sqlite(file)
  const child: ChildProcess = fork(program, [JSON.stringify({ file, ledger, effect } satisfies BackgroundChild)], {
    execArgv,
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(async () => {
    await kill()
    services.close()
    rmSync(folder, { recursive: true })
  })
  const said = (text: string): Promise<void> =>
    new Promise((resolve) => child.on('message', (message) => message === text && resolve()))
  await said('began')
  const runner = (later = 0): { runner: Runner; model: ScriptedModel } => {
    const model = scriptedModel(['Answered.', 'Answered again.'])
    const search = searchTool(effect, ledger, () => ({ hits: 7 }))
    const agent = new LlmAgent({ name: 'desk', model, tools: [search] })
    const ports = { now: () => Date.now() + later }
    const made = new Runner({ appName: 'shop', agent, logger: silentLogger, ports, ...services })
    onTestFinished(() => made.close())
    return { runner: made, model }
  }
  const [request] = await runner().runner.pending(where)
  if (!request) throw new Error('No call is pending.')
  const finish = async (): Promise<void> => {
    const recorded = said('ended')
    child.send('finish')
    await recorded
  }
  return { services, request, kill, finish, runner, runs: () => readFileSync(ledger, 'utf8').split('\n').length - 1 }
}

const results = async ({ services }: OtherProcess): Promise<unknown[]> => {
  const session = await services.sessionService.getSession({ appName: 'shop', ...where })
  const parts = (session?.events ?? []).flatMap(({ content }) => content?.parts ?? [])
  return parts.flatMap(({ functionResponse: one }) => (one && !one.willContinue ? [one.response] : []))
}

test('a client of a second process cannot send the result of a background call that runs in the first', async () => {
  const other = await startSearch('atMostOnce')
  const { runner } = other.runner()
  const forged = runner.complete({ ...where, message: [respond(other.request, { hits: 9 })] })
  await expect(forged).rejects.toMatchObject({ code: 'INVALID_REQUEST', message: /only its body gives its result/ })
  await other.finish()
  expect(await results(other)).toEqual([{ status: 'completed', tool: 'search', result: { hits: 3 } }])
})

test('a second server over the same file refuses the result of a background call, and shows the one of its body', async () => {
  const other = await startSearch('atMostOnce')
  const server = createServer({
    apps: { shop: other.runner().runner },
    authenticate: bearerTokens({ 'a-long-token-of-ada': 'ada' }),
    logger: silentLogger,
  })
  onTestFinished(() => server.close())
  const base = 'http://127.0.0.1/apps/shop/users/ada/sessions/s1'
  const forge = (path: string, body: object): Promise<Response> =>
    server.fetch(
      new Request(path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', authorization: 'Bearer a-long-token-of-ada' },
      }),
    )
  const { id } = other.request
  const direct = await forge(`${base}/pending/${id}`, { response: { hits: 9 } })
  expect([direct.status, await direct.text()]).toEqual([400, expect.stringContaining('runs in the background')])
  const newMessage = { role: 'user', parts: [{ functionResponse: { id, name: 'search', response: { hits: 9 } } }] }
  const asMessage = await forge('http://127.0.0.1/run', { ...where, appName: 'shop', newMessage })
  expect([asMessage.status, await asMessage.text()]).toEqual([400, expect.stringContaining('runs in the background')])
  await other.finish()
  expect(await results(other)).toEqual([{ status: 'completed', tool: 'search', result: { hits: 3 } }])
})

test('a message to a second process does not interrupt a background call that runs in the first', async () => {
  const other = await startSearch('atMostOnce')
  const { runner } = other.runner()
  expect((await runner.complete({ ...where, message: 'Hi.' })).text).toBe('Answered.')
  expect(await runner.recover()).toEqual([])
  await other.finish()
  expect(await results(other)).toEqual([{ status: 'completed', tool: 'search', result: { hits: 3 } }])
  expect(other.runs()).toBe(1)
})

test('the body in another process gives its result while a run of this process holds the session', async () => {
  const other = await startSearch('atMostOnce')
  const lease = await other.services.sessionService.claim({ appName: 'shop', ...where })
  const finished = other.finish()
  await vi.waitFor(async () => expect(await other.services.sessionService.inbox(lease)).toHaveLength(1), 10_000)
  const [item] = await other.services.sessionService.inbox(lease)
  expect(item).toMatchObject({ type: 'result', callId: other.request.id })
  await other.services.sessionService.release(lease)
  await finished
  expect(await results(other)).toEqual([{ status: 'completed', tool: 'search', result: { hits: 3 } }])
})

test.each<[Effect, object, runs: number]>([
  ['none', { status: 'completed', result: { hits: 7 } }, 2],
  ['idempotent', { status: 'completed', result: { hits: 7 } }, 2],
  ['reconcilable', { hits: 5 }, 1],
  ['atMostOnce', { status: 'unknown_outcome', errorCode: 'UNKNOWN_OUTCOME' }, 1],
])('recover() settles a background call by its effect after kill -9: %s', async (effect, expected, runs) => {
  const other = await startSearch(effect)
  await other.kill()
  const early = other.runner()
  await expect(
    early.runner.complete({ ...where, message: [respond(other.request, { hits: 9 })] }),
  ).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  expect(await early.runner.recover()).toEqual([]) // its time is not over

  const { runner, model } = other.runner(LATER_MS)
  const [recovered, ...more] = await runner.recover()
  expect(more).toEqual([])
  for await (const _ of recovered ?? []) void _
  await runner.internals.backgroundOf(where)
  expect(await results(other)).toMatchObject([expected])
  expect(model.requests.at(-1)?.contents.at(-1)?.parts.at(-1)?.functionResponse?.response).toMatchObject(expected)
  expect(other.runs()).toBe(runs)
  expect(await runner.pending()).toEqual([])
})

test('a message settles a background call whose process died, before it is answered', async () => {
  const other = await startSearch('atMostOnce')
  await other.kill()
  const { runner, model } = other.runner(LATER_MS)
  expect((await runner.complete({ ...where, message: 'Hi.' })).text).toBe('Answered again.')
  expect(await results(other)).toMatchObject([{ status: 'unknown_outcome' }])
  expect(model.requests).toHaveLength(2)
})

test('the developer posts the result of a background call whose process died', async () => {
  const other = await startSearch('atMostOnce')
  await other.kill()
  const { runner } = other.runner()
  const key = { appName: 'shop', ...where }
  const response = { hits: 4 }
  await runner.sessionService.post(key, { id: 'by-hand', type: 'result', callId: other.request.id, response })
  for await (const _ of runner.resume(where)) void _
  expect(await results(other)).toEqual([{ hits: 4 }])
})
