// What is left of a run when it is over: nothing but its result.
import { spawn, spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { hasBash, hasPython, isolationsHere, run, textsOf } from '../executor.test-kit.ts'
import { alive, marker } from '../process/find-processes.test-kit.ts'
import { unisolatedLocalProcess } from '../unisolated-process/unisolated-local-process.ts'
import { isolatedProcess } from './isolated-process.ts'

const isolations = await isolationsHere()
const languages = ['bash', 'python', 'javascript'] as const
const mounts = (): string => readFileSync('/proc/self/mounts', 'utf8')
let mountsBefore = ''
beforeAll(() => {
  mountsBefore = mounts()
})
afterAll(() => expect(mounts()).toBe(mountsBefore))

/** Ways to stay, each with a process that sleeps for so long. */
const stays: Record<string, (word: string) => readonly [language: string, code: string]> = {
  'in the background': (word) => ['bash', `sleep ${word} & echo started`],
  'as a daemon of its own session': (word) => [
    'bash',
    `setsid sleep ${word} > /dev/null 2>&1 < /dev/null & echo started`,
  ],
  'deaf to every signal it can be': (word) => [
    'bash',
    `(trap '' HUP INT TERM PIPE; nohup sleep ${word} > /dev/null 2>&1 &) ; echo started`,
  ],
  'after forking twice': (word) => [
    'python',
    `import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 100)
        os.execvp("sleep", ["sleep", "${word}"])
    os._exit(0)
os.wait()
print("started")`,
  ],
}

describe.concurrent.each(isolations)('%s', (isolation) => {
  const executor = isolatedProcess({ languages, isolation })

  test.skipIf(!hasBash || !hasPython).each(Object.keys(stays))('no process stays %s', async (way) => {
    const word = marker()
    const [language, code] = stays[way]?.(word) ?? ['', '']
    expect(await run(executor, code, { language })).toEqual({ outcome: 'OK', output: 'started' })
    expect(alive(word)).toEqual([])
  })

  test.skipIf(!hasBash)('no process stays after the deadline, deaf or not', async () => {
    const word = marker()
    const code = `trap '' TERM INT HUP; setsid sleep ${word} & echo started; while :; do sleep ${word}; done`
    const { outcome } = await run(isolatedProcess({ languages, isolation, timeoutMs: 1000 }), code)
    expect(outcome).toBe('DEADLINE_EXCEEDED')
    expect(alive(word)).toEqual([])
  })

  test('no process stays when nobody waits any more', async () => {
    const word = marker()
    const stop = new AbortController()
    const callTool = async () => {
      expect(alive(word)).toHaveLength(1)
      stop.abort(new Error('gone'))
      return {}
    }
    const code = `const { spawn } = await import('node:child_process')
spawn('sleep', ['${word}'], { detached: true })
await tools.started({})
for (;;);`
    const running = run(executor, code, { language: 'js', tools: ['started'], callTool, signal: stop.signal })
    await expect(running).rejects.toThrow('gone')
    expect(alive(word)).toEqual([])
  })

  test('no process stays when we are killed', async () => {
    const word = marker()
    const program = `import { isolatedProcess } from ${JSON.stringify(new URL('./isolated-process.ts', import.meta.url).href)}
const executor = isolatedProcess({ languages: { sh: ['sh', '{file}'] }, isolation: '${isolation}' })
await executor.execute({ code: 'sleep ${word}', language: '', sessionKey: '', signal: new AbortController().signal })`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'ignore' })
    await vi.waitFor(() => expect(alive(word)).toHaveLength(1), { timeout: 10_000 })
    child.kill('SIGKILL')
    await vi.waitFor(() => expect(alive(word)).toEqual([]), { timeout: 10_000 })
  })

  test.skipIf(!hasBash)('links, pipes and folders are not taken for files', async () => {
    const code = `echo real > real; ln -s /etc/passwd link; ln -s real near; ln real hard; mkfifo pipe; mkdir folder; echo x > folder/deep
exec 9<>pipe; echo done`
    const result = await run(executor, code)
    expect(result).toMatchObject({ outcome: 'OK', output: 'done' })
    const texts = textsOf(result)
    expect(Object.values(texts)).toEqual(['real\n']) // once, under one of its two names
    expect(['real', 'hard']).toContain(Object.keys(texts)[0])
  })

  test.skipIf(!hasPython)('names that are none are left, and said', async () => {
    const code = `import os
for name in [b"fine.txt", b"-rf", b"new\\nline", b"back\\\\slash", b"\\xff\\xfe", b"esc\\x1b[31m", b"l" * 201, b"-T", b"--checkpoint-action=exec=id"]:
    open(name, "wb").write(b"x")`
    const result = await run(executor, code, { language: 'python' })
    expect(Object.keys(textsOf(result)).sort()).toEqual(['--checkpoint-action=exec=id', '-T', '-rf', 'fine.txt'])
    expect(result.output).toContain('not kept: ')
    expect(result.outcome).toBe('OK')
  })

  test.skipIf(!hasBash)('only so many files are taken, and only so large ones', async () => {
    const few = isolatedProcess({ languages, isolation, maxFiles: 3, maxFileBytes: 5000 })
    const result = await run(few, 'for i in 1 2 3 4 5; do echo $i > $i; done')
    expect(result.files).toHaveLength(3)
    expect(result.output).toMatch(/^\[not kept: "\d", "\d"; a run keeps 3 files/)
    const large = await run(few, 'head -c 5001 /dev/zero > large; truncate -s 4M sparse; echo fine > small')
    expect(textsOf(large)).toEqual({ small: 'fine\n' })
    expect(large.output).toContain('"sparse"')
  })

  test.skipIf(!hasBash)('HTML and SVG come out as what they are', async () => {
    const { files = [] } = await run(
      executor,
      `echo '<script>' > a.html; echo '<svg/>' > b.svg; echo '<script>' > c.png`,
    )
    const types = Object.fromEntries(files.map(({ name, mimeType }) => [name, mimeType]))
    expect(types).toEqual({ 'a.html': 'text/html', 'b.svg': 'image/svg+xml', 'c.png': 'text/plain' })
  })

  test.skipIf(!hasBash)('a working folder that is gone, or leads elsewhere, gives no files', async () => {
    expect(await run(executor, 'cd /; rm -rf /tmp/work')).toEqual({ outcome: 'OK', output: '' })
    const { files = [] } = await run(executor, 'cd /; rm -rf /tmp/work; ln -s /etc /tmp/work')
    expect(JSON.stringify(files)).not.toContain(Buffer.from('root:x:').toString('base64').slice(0, 8))
  })
})

describe('without isolation', () => {
  const executor = unisolatedLocalProcess({ iAcceptHostAccess: true, languages, logger: { warn: () => {} } })

  test.skipIf(!hasPython)('a daemon stays', async () => {
    const word = marker()
    const [language, code] = stays['after forking twice']?.(word) ?? ['', '']
    await run(executor, code, { language })
    await vi.waitFor(() => expect(alive(word)).toHaveLength(1))
    for (const pid of alive(word)) process.kill(pid, 'SIGKILL')
  })
})

describe('what this process has open', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-open-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'canary')
  writeFileSync(path, 'the secret of the machine')
  const READ = 'try { console.log(fs.readFileSync(200, "utf8")) } catch (error) { console.log(error.code) }'

  /** A Node that was started with an open file at a number Node itself does not look at. */
  function startedWithFile(program: string): string {
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

  test('is inherited by a process that is simply started', () => {
    const program = `import { spawnSync } from 'node:child_process'
console.log(spawnSync(process.execPath, ['-e', ${JSON.stringify(READ)}], { encoding: 'utf8', timeout: 20_000 }).stdout)`
    expect(startedWithFile(program)).toContain('the secret')
  })

  test.each(isolations)('is not inherited by code in %s', (isolation) => {
    const program = `import { isolatedProcess } from ${JSON.stringify(new URL('./isolated-process.ts', import.meta.url).href)}
const executor = isolatedProcess({ languages: ['javascript'], isolation: '${isolation}' })
const code = ${JSON.stringify(`import fs from 'node:fs'; ${READ}; console.log('tried')`)}
console.log((await executor.execute({ code, language: '', sessionKey: '', signal: new AbortController().signal })).output)`
    const output = startedWithFile(program)
    expect(output).toContain('tried')
    expect(output).not.toContain('the secret')
  })
})
