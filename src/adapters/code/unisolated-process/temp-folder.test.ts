// The temporary folders of unisolatedLocalProcess(). A run removes its own; the next executor removes those of killed hosts.
import { spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { run, textsByName } from '../executor.test-kit.ts'
import { processesWithArgument, uniqueArgument } from '../process/find-processes.test-kit.ts'
import { isRoot } from '../process/machine.ts'
import { unisolatedLocalProcess } from './unisolated-local-process.ts'

const options = { iAcceptHostAccess: true, languages: { sh: ['sh', '{file}'] }, logger: { warn: () => {} } } as const
const folder = mkdtempSync(join(tmpdir(), 'toolwright-temp-'))
process.env.TMPDIR = folder
afterAll(() => rmSync(folder, { recursive: true }))

const folders = (): string[] => readdirSync(folder).filter((name) => name.startsWith('toolwright-code-'))

/** Starts a process that runs code until it is killed. Returns the name of the folder it created. */
async function startHost() {
  const argument = uniqueArgument()
  const before = folders()
  const program = `import { unisolatedLocalProcess } from ${JSON.stringify(new URL('./unisolated-local-process.ts', import.meta.url).href)}
const executor = unisolatedLocalProcess({ iAcceptHostAccess: true, languages: { sleep: ['sleep', '${argument}'] }, logger: { warn: () => {} } })
await executor.execute({ code: '', language: '', sessionKey: '', signal: new AbortController().signal })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'ignore' })
  await vi.waitFor(() => expect(processesWithArgument(argument)).not.toEqual([]), { timeout: 20_000 })
  const name = folders().find((one) => !before.includes(one)) ?? ''
  expect(name).not.toBe('')
  const kill = (): Promise<unknown> => {
    const exited = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    return exited
  }
  return { name, argument, kill }
}

test('unisolatedLocalProcess() removes the temporary folder of a killed host, but not that of a running host', async () => {
  const [killed, alive] = [await startHost(), await startHost()]
  await killed.kill()
  expect(folders()).toContain(killed.name)
  await run(unisolatedLocalProcess(options), 'true')
  expect(folders()).toEqual([alive.name])
  await alive.kill()
  await run(unisolatedLocalProcess(options), 'true')
  expect(folders()).toEqual([])
})

test.runIf(process.platform === 'linux')('unisolatedLocalProcess() kills the program of a killed host', async () => {
  const { argument, kill } = await startHost()
  await kill()
  await vi.waitFor(() => expect(processesWithArgument(argument)).toEqual([]), { timeout: 10_000 })
  await run(unisolatedLocalProcess(options), 'true')
})

test('unisolatedLocalProcess() does not remove links, files, shared folders and folders of other users with a matching name', async () => {
  const { name, kill } = await startHost()
  await kill()
  const [, , machine = '', pid = '', start = ''] = name.split('-')
  const named = (random: string, of = machine): string =>
    join(folder, `toolwright-code-${of}-${pid}-${start}-${random}`)
  const elsewhere = join(folder, 'elsewhere')
  mkdirSync(elsewhere)
  writeFileSync(join(elsewhere, 'kept'), 'kept')
  symlinkSync(elsewhere, named('LinkLi'))
  writeFileSync(named('FileFi'), 'kept')
  mkdirSync(named('OpenOp'), { mode: 0o755 })
  chmodSync(named('OpenOp'), 0o755)
  mkdirSync(named('OtherM', `${machine}f`), { mode: 0o700 })
  mkdirSync(join(folder, 'toolwright-code-notours'), { mode: 0o700 })
  mkdirSync(`${named('LongNa')}me`, { mode: 0o700 })
  if (isRoot) {
    mkdirSync(named('Strang'), { mode: 0o700 })
    chownSync(named('Strang'), 65534, 65534)
  }
  const abandoned = named('Abando')
  mkdirSync(abandoned, { mode: 0o700 })
  symlinkSync(elsewhere, join(abandoned, 'link'))
  const before = readdirSync(folder)
  await run(unisolatedLocalProcess(options), 'true')
  expect(before.filter((one) => !existsSync(join(folder, one)))).toEqual(
    before.filter((one) => one === name || join(folder, one) === abandoned),
  )
  expect(readFileSync(join(elsewhere, 'kept'), 'utf8')).toBe('kept')
  for (const one of readdirSync(folder)) rmSync(join(folder, one), { recursive: true })
})

test('unisolatedLocalProcess() removes a temporary folder whose process id now belongs to another process', async () => {
  const { name, kill } = await startHost()
  const [, , machine = ''] = name.split('-')
  await kill()
  const stale = join(folder, `toolwright-code-${machine}-${process.pid}-1-StaleS`)
  mkdirSync(stale, { mode: 0o700 })
  await run(unisolatedLocalProcess(options), 'true')
  expect(existsSync(stale)).toBe(process.platform !== 'linux')
  rmSync(stale, { recursive: true, force: true })
})

test.each([
  ['is gone', 'cd /; rm -r "$HOME"'],
  ['is a link', `cd /; rm -r "$HOME"; ln -s ${join(folder, 'others')} "$HOME"`],
  ['is a pipe', 'cd /; rm -r "$HOME"; mkfifo "$HOME"'],
])('unisolatedLocalProcess() returns no files when the working directory %s', async (_, code) => {
  mkdirSync(join(folder, 'others'), { recursive: true })
  writeFileSync(join(folder, 'others/secret'), 'secret')
  expect(await run(unisolatedLocalProcess(options), `${code}; echo done`)).toEqual({ outcome: 'OK', output: 'done' })
  expect(folders()).toEqual([])
  expect(readFileSync(join(folder, 'others/secret'), 'utf8')).toBe('secret')
})

test('unisolatedLocalProcess() removes folders that the code made unreadable', async () => {
  const code = 'echo mine > mine; mkdir -p a/b; echo x > a/b/c; chmod 000 a/b a; chmod 500 .; echo done'
  const result = await run(unisolatedLocalProcess(options), code)
  expect(result).toMatchObject({ outcome: 'OK', output: 'done' })
  expect(textsByName(result)).toEqual({ mine: 'mine\n' })
  expect(folders()).toEqual([])
})
