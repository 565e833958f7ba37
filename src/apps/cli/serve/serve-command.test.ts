import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import type { Model } from '../../../engine/model/model.ts'
import { Runner } from '../../../engine/runner/runner.ts'
import { RunnerInternals } from '../../../engine/runner/runner-internals.ts'
import { sqlite } from '../../sqlite/sqlite.ts'
import { runCommandLine, type StartedCommand, startCommandLine, type TerminalSetup } from '../terminal.test-kit.ts'

const refund = 'test/examples/fixtures/refund.ts'
const custom = "export default { name: 'own', async *run() {} }\n"

/** A working directory with these files. */
function folderWith(files: { readonly [name: string]: string } = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-serve-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

interface Served extends StartedCommand {
  readonly token: string
  readonly text: string
  get(path: string, token?: string): Promise<Response>
  post(path: string, body: object): Promise<Response>
  stop(): Promise<number>
}

/** Starts `toolwright serve` on a free port. */
async function serve(args: readonly string[], setup: TerminalSetup = {}): Promise<Served> {
  const folder = setup.folder ?? folderWith()
  const started = startCommandLine(['serve', ...args, '--port', '0'], { ...setup, folder })
  onTestFinished(() => void started.signals.emit('SIGTERM'))
  const text = await started.until('Stop        Ctrl+C\n')
  const url = /^Serving +(\S+)$/m.exec(text)?.[1] ?? ''
  const token = /^Token +(\S+)$/m.exec(text)?.[1] ?? ''
  const get = (path: string, sent = token): Promise<Response> =>
    fetch(`${url}${path}`, { headers: sent ? { authorization: `Bearer ${sent}` } : {} })
  const post = (path: string, body: object): Promise<Response> =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const stop = async (): Promise<number> => {
    started.signals.emit('SIGTERM')
    return (await started.ended).code
  }
  return { ...started, token, text, get, post, stop }
}

test('toolwright serve --dev names the file it has loaded for a saved test, also with --app', async () => {
  const folder = folderWith({ 'shop.mts': custom, 'apps/clerk/agent.mjs': custom })
  const fileOf = async (...args: string[]): Promise<unknown> => {
    const { get, stop } = await serve([...args, '--dev'], { folder })
    const { apps } = (await (await get('/dev/info')).json()) as { apps: { file?: string }[] }
    await stop()
    return apps.map(({ file }) => file)
  }
  expect(await fileOf(refund, '--app', 'shop')).toEqual(['./refund.ts'])
  expect(await fileOf(join(folder, 'apps'))).toEqual(['./agent.mjs'])
})

test('toolwright serve answers requests with the printed token, refuses others, and stops on SIGTERM', async () => {
  const { text, get, stop } = await serve([refund])
  expect(text).toMatch(/^Serving {5}http:\/\/127\.0\.0\.1:\d+\nToken {7}\S{20,}\nApps {8}refund\n/)
  expect(await (await get('/list-apps')).json()).toEqual(['refund'])
  expect((await get('/list-apps', '')).status).toBe(401)
  expect((await get('/list-apps', 'guess')).status).toBe(401)
  expect((await get('/dev/info')).status).toBe(404)
  expect(await stop()).toBe(0)
})

test('toolwright serve --metrics measures runs for /metrics, and does not without the option', async () => {
  const figuresOf = async (...options: string[]): Promise<string> => {
    const { get, post, stop } = await serve([refund, '--memory', ...options])
    await post('/apps/refund/users/ada/sessions', { sessionId: 's1' })
    const newMessage = { role: 'user', parts: [{ text: 'Hello' }] }
    await post('/run', { appName: 'refund', userId: 'ada', sessionId: 's1', newMessage })
    const figures = await (await get('/metrics')).text()
    await stop()
    return figures
  }
  expect(await figuresOf('--metrics')).toContain('gen_ai_client_operation_duration_seconds_count')
  expect(await figuresOf()).not.toContain('gen_ai')
})

test('toolwright serve --dev also serves the routes for developers', async () => {
  const { get, stop } = await serve([refund, '--dev', '--app', 'shop'])
  expect(await (await get('/dev/info')).json()).toMatchObject({ apps: [{ name: 'shop' }] })
  expect(await stop()).toBe(0)
})

test('toolwright serve stores open approvals in .toolwright, readable by the owner only, and lists them after a restart', async () => {
  const folder = folderWith()
  const first = await serve([refund], { folder })
  const session = { appName: 'refund', userId: 'ada', sessionId: 's1' }
  await first.post('/apps/refund/users/ada/sessions/s1', {})
  await (await first.post('/run', { ...session, newMessage: { role: 'user', parts: [{ text: 'refund 5' }] } })).text()
  expect(await first.stop()).toBe(0)
  expect(first.text).toContain(`Sessions    ${join('.toolwright', 'refund.db')}\n`)
  expect(readdirSync(join(folder, '.toolwright'))).toContain('refund.db')
  if (process.platform !== 'win32') expect(statSync(join(folder, '.toolwright')).mode & 0o077).toBe(0)

  const second = await serve([refund], { folder })
  expect(await (await second.get('/apps/refund/users/ada/pending')).json()).toMatchObject([{ tool: 'refund' }])
  await second.stop()
})

test('a request that toolwright run left open is listed and answered by toolwright serve', async () => {
  const folder = folderWith()
  vi.stubEnv('LEDGER', join(folder, 'ledger'))
  onTestFinished(() => void vi.unstubAllEnvs())
  const { code, out } = await runCommandLine(['run', refund, 'refund 5'], { folder })
  expect([code, out]).toEqual([3, expect.stringMatching(/Continue with: npx toolwright run \S+ --session \S+\n$/)])

  const { get, post, stop } = await serve([refund], { folder })
  const [open] = await (await get('/apps/refund/users/user/pending')).json()
  expect(open).toMatchObject({ tool: 'refund', kind: 'confirmation' })
  const { id, sessionId } = open
  const answer = { functionResponse: { id, name: 'adk_request_confirmation', response: { confirmed: true } } }
  const newMessage = { role: 'user', parts: [answer] }
  const session = { appName: 'refund', userId: 'user', sessionId }
  expect(await (await post('/run', { ...session, newMessage })).text()).toContain('Refunded.')
  expect(readFileSync(join(folder, 'ledger'), 'utf8')).toContain('refund 5')
  await stop()
})

test.each(['run', 'serve'])('toolwright %s --memory stores nothing', async (command) => {
  const folder = folderWith()
  if (command === 'run') expect((await runCommandLine(['run', refund, '--memory', 'hi'], { folder })).code).toBe(0)
  else {
    const { text, stop } = await serve([refund, '--memory'], { folder })
    expect(text).toContain('Sessions    memory\n')
    await stop()
  }
  expect(readdirSync(folder)).toEqual([])
})

test('.toolwright keeps itself out of Git, and a .gitignore of the user stays as it is', async () => {
  const folder = folderWith()
  expect((await runCommandLine(['run', refund, 'hi'], { folder })).code).toBe(0)
  const file = join(folder, '.toolwright', '.gitignore')
  expect(readFileSync(file, 'utf8')).toBe('*\n')
  writeFileSync(file, '*.db\n')
  expect((await runCommandLine(['run', refund, 'hi'], { folder })).code).toBe(0)
  expect(readFileSync(file, 'utf8')).toBe('*.db\n')
})

test('toolwright serve resumes the sessions that an earlier process left', async () => {
  const folder = folderWith()
  const db = join(folder, 'app.db')
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  const model: Model = {
    name: 'hanging',
    async *generate() {
      ask()
      await new Promise(() => {})
    },
  }
  const services = sqlite(db)
  const runner = new Runner({ appName: 'refund', agent: new LlmAgent({ name: 'desk', model }), ...services })
  const run = runner.complete({ userId: 'ada', sessionId: 's1', message: 'hello' }).catch(() => {})
  await asked
  await runner.close({ graceMs: 0, interrupt: true })
  await run
  services.close()

  const { until, get, stop } = await serve([refund, '--db', db], { folder })
  await until('Resumed     interrupted sessions of refund: 1\n')
  const session = async (): Promise<string> => await (await get('/apps/refund/users/ada/sessions/s1')).text()
  await vi.waitUntil(async () => (await session()).includes('You said hello.'))
  await stop()
})

test('toolwright serve keeps the configured token out of the output', async () => {
  const secret = 'a-secret-of-the-operator'
  const { text, get, stop } = await serve([refund, '--db', ':memory:'], { env: { TOOLWRIGHT_TOKEN: secret } })
  expect((await get('/list-apps', secret)).status).toBe(200)
  expect(text).toContain('Token       the value of TOOLWRIGHT_TOKEN\n')
  expect(text).not.toContain(secret)
  await stop()
})

test('the address that toolwright serve prints asks a browser for the configured token', async () => {
  const secret = 'a-secret-of-the-operator'
  const { text, stop } = await serve([refund, '--db', ':memory:'], { env: { TOOLWRIGHT_TOKEN: secret } })
  const url = /http:\/\/\S+/.exec(text)?.[0] ?? ''
  const asked = await fetch(url, { headers: { accept: 'text/html' } })
  expect([asked.status, asked.headers.get('content-type')]).toEqual([401, 'text/html; charset=utf-8'])
  expect(await asked.text()).toContain('name="token"')
  const opened = await fetch(`${url}/?token=${secret}`, { headers: { accept: 'text/html' }, redirect: 'manual' })
  expect(opened.status).toBe(303)
  await stop()
})

test('toolwright serve --requests-per-minute and --concurrent-runs set the limits of a gateway', async () => {
  const { get, stop } = await serve([
    refund,
    '--db',
    ':memory:',
    '--requests-per-minute',
    '3',
    '--concurrent-runs',
    '7',
  ])
  const statuses: number[] = []
  for (let at = 0; at < 4; at++) statuses.push((await get('/list-apps')).status)
  expect(statuses).toEqual([200, 200, 200, 429])
  await stop()
})

test.each(['0', '-1', 'many', '1.5'])('toolwright serve refuses --requests-per-minute %j', async (value) => {
  const { code, errors } = await runCommandLine(['serve', refund, `--requests-per-minute=${value}`])
  expect(code).toBe(2)
  expect(errors).toContain('--requests-per-minute must be a whole number above 0')
})

test('toolwright serve authenticates with the function that the agent file exports', async () => {
  const authenticate = `export const authenticate = (request) =>
    request.headers.get('authorization') === 'Bearer ada' ? { userId: 'ada' } : undefined\n`
  const folder = folderWith({ 'desk.mjs': custom + authenticate })
  const env = { TOOLWRIGHT_TOKEN: 'not-used-by-this-server' }
  const { text, get, stop } = await serve([join(folder, 'desk.mjs')], { folder, env })
  expect(text).not.toContain('Token')
  expect((await get('/list-apps', 'ada')).status).toBe(200)
  expect((await get('/list-apps', 'eve')).status).toBe(401)
  expect((await get('/list-apps', env.TOOLWRIGHT_TOKEN)).status).toBe(401)
  await stop()
})

test('toolwright serve with a folder serves each app in it', async () => {
  const files = {
    'apps/b/agent.mjs': custom,
    'apps/a/agent.mjs': custom,
    'apps/.git/agent.mjs': 'throw 1',
    'apps/c/x.mjs': '',
  }
  const folder = folderWith(files)
  const { get, stop } = await serve([join(folder, 'apps')], { folder })
  expect(await (await get('/list-apps')).json()).toEqual(['a', 'b'])
  await stop()
})

test('toolwright serve with the folder of one app names the app after the folder', async () => {
  const folder = folderWith({ 'shop/agent.mjs': custom, 'shop/other/agent.mjs': custom })
  const { get, stop } = await serve([join(folder, 'shop')], { folder })
  expect(await (await get('/list-apps')).json()).toEqual(['shop'])
  await stop()
})

test('toolwright serve waits for running turns, and a second signal stops at once', async () => {
  const { post, signals, until, hasExited, ended } = await serve(['test/examples/fixtures/slow.ts', '--db', ':memory:'])
  await post('/apps/slow/users/ada/sessions/s1', {})
  const newMessage = { role: 'user', parts: [{ text: 'wait' }] }
  const running = await post('/run_sse', { appName: 'slow', userId: 'ada', sessionId: 's1', newMessage })
  expect(running.status).toBe(200)
  signals.emit('SIGTERM')
  await until('… Waiting for running turns. Press Ctrl+C to stop now\n')
  expect(hasExited()).toBe(false)
  signals.emit('SIGINT')
  expect(hasExited()).toBe(true)
  await running.body?.cancel() // the client leaves, so that the run ends and nothing is left of the test
  expect((await ended).code).toBe(0)
})

test('toolwright serve stops on SIGTERM while it still looks for sessions to resume', async () => {
  const worker = vi.spyOn(RunnerInternals.prototype, 'worker').mockReturnValue(new Promise(() => {}))
  onTestFinished(() => worker.mockRestore())
  const { stop } = await serve([refund, '--db', ':memory:'])
  expect(worker).toHaveBeenCalled()
  expect(await stop()).toBe(0)
})

test('toolwright serve with a port in use exits with 1 and names the port', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await new Promise((resolve) => other.once('listening', resolve))
  const { port } = other.address() as AddressInfo
  const { code, errors } = await runCommandLine(['serve', refund, '--db', ':memory:', '--port', String(port)])
  expect(errors).toBe(
    `toolwright: Port ${port} is in use by another program. Pass --port with a free one, or --port 0 to take any.\n`,
  )
  expect(code).toBe(1)
})

test.each([
  ['without a token', undefined, 'requests would need no secret of yours'],
  ['with a short token', 'short', 'TOOLWRIGHT_TOKEN has only 5 characters'],
])('toolwright serve refuses to listen for other machines %s', async (_, token, problem) => {
  const args = ['serve', refund, '--db', ':memory:', '--host', '0.0.0.0', '--port', '0']
  const { code, out, errors } = await runCommandLine(args, { env: { TOOLWRIGHT_TOKEN: token } })
  expect(errors).toContain(`Other machines can reach "0.0.0.0", but ${problem}. Set TOOLWRIGHT_TOKEN`)
  expect([code, out]).toEqual([1, ''])
})

test.each([
  ['no file', [], 'Pass an agent file or a folder.', 2],
  ['an invalid port', ['x.ts', '--port', '-1'], "Option '--port' argument is ambiguous", 2],
  ['a port above 65535', ['x.ts', '--port', '65536'], '--port must be a number from 0 to 65535', 2],
  ['an origin with a path', ['x.ts', '--allow-origin', 'http://a.example/x'], '--allow-origin must be an origin', 2],
  ['one name for two files', [refund, refund, '--app', 'a'], '--app names one app, but there are 2 agent files.', 2],
  ['two files of one name', [refund, refund, '--db', ':memory:'], 'Two apps are called "refund"', 2],
  [
    'a folder without agents',
    ['src/core/base'],
    'Folder "src/core/base" has no agent.ts, and no folder in it has one.',
    2,
  ],
  ['--db and --memory', [refund, '--db', 'x.db', '--memory'], '--memory stores nothing, and --db names a file.', 2],
  ['--memory for a runner', ['test/examples/fixtures/runner.ts', '--memory'], '--memory cannot be used with', 2],
  ['--db for a runner', ['test/examples/fixtures/runner.ts', '--db', 'x.db'], '--db cannot be used with', 2],
  ['a missing file', ['gone.ts'], 'Agent file "gone.ts" does not exist.', 1],
])('toolwright serve with %s prints one line', async (_, args, problem, expected) => {
  const { code, out, errors } = await runCommandLine(['serve', ...args], { folder: folderWith() })
  expect(errors).toContain(`toolwright: ${problem}`)
  expect(errors.trimEnd()).not.toContain('\n')
  expect([code, out]).toEqual([expected, ''])
})

test('toolwright serve says what to pass when its folder for sessions cannot be created', async () => {
  const { code, errors } = await runCommandLine(['serve', refund], { folder: folderWith({ '.toolwright': 'a file' }) })
  expect(errors).toMatch(/^toolwright: Sessions cannot be stored in ".*": EEXIST.* Pass --db <file>/)
  expect(code).toBe(1)
})

test('toolwright serve refuses agent files that authenticate differently', async () => {
  const folder = folderWith({
    'a.mjs': custom,
    'b.mjs': `${custom}export const authenticate = () => ({ userId: 'ada' })`,
  })
  const args = ['serve', join(folder, 'a.mjs'), join(folder, 'b.mjs'), '--db', ':memory:']
  const { code, errors } = await runCommandLine(args, { folder })
  expect(errors).toContain('The agent files export different "authenticate" functions')
  expect(code).toBe(2)
})
