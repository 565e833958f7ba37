// After a run, nothing remains on the machine: no process, no mount, no file but those in the result.
import { spawn, spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { findWorkingIsolations, hasBash, hasPython, run, textsByName } from '../executor.test-kit.ts'
import { processesWithArgument, uniqueArgument } from '../process/find-processes.test-kit.ts'
import { unisolatedLocalProcess } from '../unisolated-process/unisolated-local-process.ts'
import { isolatedProcess } from './isolated-process.ts'

const isolations = await findWorkingIsolations()
const languages = ['bash', 'python', 'javascript'] as const
const mounts = (): string => readFileSync('/proc/self/mounts', 'utf8')
let mountsBefore = ''
beforeAll(() => {
  mountsBefore = mounts()
})
afterAll(() => expect(mounts()).toBe(mountsBefore))

/** Code that leaves a sleeping process behind. */
const leavers: Record<string, (argument: string) => readonly [language: string, code: string]> = {
  'a background process': (argument) => ['bash', `sleep ${argument} & echo started`],
  'a daemon in its own session': (argument) => [
    'bash',
    `setsid sleep ${argument} > /dev/null 2>&1 < /dev/null & echo started`,
  ],
  'a process that ignores signals': (argument) => [
    'bash',
    `(trap '' HUP INT TERM PIPE; nohup sleep ${argument} > /dev/null 2>&1 &) ; echo started`,
  ],
  'a process that forked twice': (argument) => [
    'python',
    `import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 100)
        os.execvp("sleep", ["sleep", "${argument}"])
    os._exit(0)
os.wait()
print("started")`,
  ],
}

describe.concurrent.each(isolations)('after a run with %s', (isolation) => {
  const executor = isolatedProcess({ languages, isolation })

  test.skipIf(!hasBash || !hasPython).each(Object.keys(leavers))('%s is killed', async (leaver) => {
    const argument = uniqueArgument()
    const [language, code] = leavers[leaver]?.(argument) ?? ['', '']
    expect(await run(executor, code, { language })).toEqual({ outcome: 'OK', output: 'started' })
    expect(processesWithArgument(argument)).toEqual([])
  })

  test.skipIf(!hasBash)('processes that ignore signals are killed at the deadline', async () => {
    const argument = uniqueArgument()
    const code = `trap '' TERM INT HUP; setsid sleep ${argument} & echo started; while :; do sleep ${argument}; done`
    const { outcome } = await run(isolatedProcess({ languages, isolation, timeoutMs: 1000 }), code)
    expect(outcome).toBe('DEADLINE_EXCEEDED')
    expect(processesWithArgument(argument)).toEqual([])
  })

  test('every process is killed when the request is aborted', async () => {
    const argument = uniqueArgument()
    const stop = new AbortController()
    const callTool = async () => {
      expect(processesWithArgument(argument)).toHaveLength(1)
      stop.abort(new Error('gone'))
      return {}
    }
    const code = `const { spawn } = await import('node:child_process')
spawn('sleep', ['${argument}'], { detached: true })
await tools.started({})
for (;;);`
    const running = run(executor, code, { language: 'js', tools: ['started'], callTool, signal: stop.signal })
    await expect(running).rejects.toThrow('gone')
    // the kernel removes killed processes of a sandbox a moment after the kill
    await vi.waitFor(() => expect(processesWithArgument(argument)).toEqual([]), { timeout: 10_000 })
  })

  test('every process is killed when the host is killed', async () => {
    const argument = uniqueArgument()
    const program = `import { isolatedProcess } from ${JSON.stringify(new URL('./isolated-process.ts', import.meta.url).href)}
const executor = isolatedProcess({ languages: { sh: ['sh', '{file}'] }, isolation: '${isolation}' })
await executor.execute({ code: 'sleep ${argument}', language: '', sessionKey: '', signal: new AbortController().signal })`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'ignore' })
    await vi.waitFor(() => expect(processesWithArgument(argument)).toHaveLength(1), { timeout: 10_000 })
    child.kill('SIGKILL')
    await vi.waitFor(() => expect(processesWithArgument(argument)).toEqual([]), { timeout: 10_000 })
  })

  test.skipIf(!hasBash)('links, pipes and folders are not among the output files', async () => {
    const code = `echo real > real; ln -s /etc/passwd link; ln -s real near; ln real hard; mkfifo pipe; mkdir folder; echo x > folder/deep
exec 9<>pipe; echo done`
    const result = await run(executor, code)
    expect(result).toMatchObject({ outcome: 'OK', output: 'done' })
    const texts = textsByName(result)
    expect(Object.values(texts)).toEqual(['real\n']) // once, under one of its two names
    expect(['real', 'hard']).toContain(Object.keys(texts)[0])
  })

  test.skipIf(!hasPython)('files whose name is not plain are skipped with a note', async () => {
    const code = `import os
for name in [b"fine.txt", b"-rf", b"new\\nline", b"back\\\\slash", b"\\xff\\xfe", b"esc\\x1b[31m", b"l" * 201, b"-T", b"--checkpoint-action=exec=id"]:
    open(name, "wb").write(b"x")`
    const result = await run(executor, code, { language: 'python' })
    expect(Object.keys(textsByName(result)).sort()).toEqual(['--checkpoint-action=exec=id', '-T', '-rf', 'fine.txt'])
    expect(result.output).toContain('not saved: ')
    expect(result.outcome).toBe('OK')
  })

  test.skipIf(!hasBash)('at most maxFiles files and maxFileBytes bytes are saved', async () => {
    const few = isolatedProcess({ languages, isolation, maxFiles: 3, maxFileBytes: 5000 })
    const result = await run(few, 'for i in 1 2 3 4 5; do echo $i > $i; done')
    expect(result.files).toHaveLength(3)
    expect(result.output).toMatch(/^\[not saved: "\d", "\d"; a run saves at most 3 files/)
    const large = await run(few, 'head -c 5001 /dev/zero > large; truncate -s 4M sparse; echo fine > small')
    expect(textsByName(large)).toEqual({ small: 'fine\n' })
    expect(large.output).toContain('"sparse"')
  })

  test.skipIf(!hasBash)('HTML and SVG files have their own MIME type, whatever their name', async () => {
    const { files = [] } = await run(
      executor,
      `echo '<script>' > a.html; echo '<svg/>' > b.svg; echo '<script>' > c.png`,
    )
    const types = Object.fromEntries(files.map(({ name, mimeType }) => [name, mimeType]))
    expect(types).toEqual({ 'a.html': 'text/html', 'b.svg': 'image/svg+xml', 'c.png': 'text/plain' })
  })

  test.skipIf(!hasBash)(
    'a working directory that was removed or replaced by a link yields no files of the host',
    async () => {
      expect(await run(executor, 'cd /; rm -rf /tmp/work')).toEqual({ outcome: 'OK', output: '' })
      const { files = [] } = await run(executor, 'cd /; rm -rf /tmp/work; ln -s /etc /tmp/work')
      expect(JSON.stringify(files)).not.toContain(Buffer.from('root:x:').toString('base64').slice(0, 8))
    },
  )
})

describe('unisolatedLocalProcess(), for comparison', () => {
  const executor = unisolatedLocalProcess({ iAcceptHostAccess: true, languages, logger: { warn: () => {} } })

  test.skipIf(!hasPython)('lets a process that forked twice survive the run', async () => {
    const argument = uniqueArgument()
    const [language, code] = leavers['a process that forked twice']?.(argument) ?? ['', '']
    await run(executor, code, { language })
    await vi.waitFor(() => expect(processesWithArgument(argument)).toHaveLength(1))
    for (const pid of processesWithArgument(argument)) process.kill(pid, 'SIGKILL')
  })
})

describe('an open file of the host', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-open-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'canary')
  writeFileSync(path, 'the secret of the machine')
  const READ = 'try { console.log(fs.readFileSync(200, "utf8")) } catch (error) { console.log(error.code) }'

  /** Runs a program in a Node process that inherits an open file at descriptor 200, which Node does not close. */
  function runWithOpenFile(program: string): string {
    const open = openSync(path, 'r')
    const stdio = Array.from({ length: 201 }, (_, at) =>
      at < 3 ? ('pipe' as const) : at === 200 ? open : ('ignore' as const),
    )
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      stdio,
      encoding: 'utf8',
    })
    closeSync(open)
    return stdout + stderr
  }

  test('is inherited by a process that plain spawn starts', () => {
    const program = `import { spawnSync } from 'node:child_process'
console.log(spawnSync(process.execPath, ['-e', ${JSON.stringify(READ)}], { encoding: 'utf8', timeout: 20_000 }).stdout)`
    expect(runWithOpenFile(program)).toContain('the secret')
  })

  test.each(isolations)('is not inherited by code isolated with %s', (isolation) => {
    const program = `import { isolatedProcess } from ${JSON.stringify(new URL('./isolated-process.ts', import.meta.url).href)}
const executor = isolatedProcess({ languages: ['javascript'], isolation: '${isolation}' })
const code = ${JSON.stringify(`import fs from 'node:fs'; ${READ}; console.log('tried')`)}
console.log((await executor.execute({ code, language: '', sessionKey: '', signal: new AbortController().signal })).output)`
    const output = runWithOpenFile(program)
    expect(output).toContain('tried')
    expect(output).not.toContain('the secret')
  })
})
