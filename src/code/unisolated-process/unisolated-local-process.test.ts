import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { file, hasBash, hasPython, run, textsOf } from '../executor.test-kit.ts'
import { alive, marker } from '../process/find-processes.test-kit.ts'
import { type UnisolatedLocalProcessOptions, unisolatedLocalProcess } from './unisolated-local-process.ts'

const warn = vi.fn()
const options = { iAcceptHostAccess: true, languages: ['bash', 'python', 'javascript'], logger: { warn } } as const
const executor = unisolatedLocalProcess(options)

// Where its temporary folders go: what is left there is what was not cleared away.
const folder = mkdtempSync(join(tmpdir(), 'toolwright-unisolated-'))
process.env.TMPDIR = folder
afterAll(() => {
  expect(readdirSync(folder).filter((name) => name.startsWith('toolwright-code-'))).toEqual([])
  rmSync(folder, { recursive: true })
})

test('is not to be had without saying so', () => {
  const wrong = (iAcceptHostAccess: unknown) => () =>
    unisolatedLocalProcess({ languages: ['bash'], iAcceptHostAccess } as UnisolatedLocalProcessOptions)
  for (const said of [undefined, false, 'true', 1]) expect(wrong(said)).toThrow('iAcceptHostAccess: true')
  expect(wrong(true)).not.toThrow()
})

test.skipIf(!hasBash)('warns at every start, and says that what it did may have happened', async () => {
  warn.mockClear()
  await run(executor, 'true')
  await run(executor, 'true')
  expect(warn.mock.calls).toEqual([
    [expect.stringMatching(/^Code of a model runs without isolation: .*bash$/)],
    [expect.stringContaining('without isolation')],
  ])
  expect(executor.effect).toBe('atMostOnce')
})

test.skipIf(!hasBash)('runs code with its files', async () => {
  const code = 'cat in.txt; echo new > out.txt; echo bad >&2; exit 4'
  const result = await run(executor, code, { files: [file('in.txt', 'given\n')] })
  expect(result).toMatchObject({ outcome: 'FAILED', output: 'given\n--- stderr ---\nbad\n[exit code 4]' })
  expect(textsOf(result)).toEqual({ 'out.txt': 'new\n' })
})

test('code on stdin, too', async () => {
  const cat = unisolatedLocalProcess({ ...options, languages: { text: ['cat'] } })
  expect((await run(cat, 'as it is')).output).toBe('as it is')
})

test.skipIf(!hasPython)('tools are called from Python and JavaScript', async () => {
  const callTool = async (_: string, args: Record<string, unknown>) => ({ got: args })
  const python = await run(executor, 'import tools\nprint(tools.any(a=1))', {
    language: 'python',
    tools: ['any'],
    callTool,
  })
  expect(python.output).toBe("{'got': {'a': 1}}")
  const node = await run(executor, 'console.log(await tools.any({ a: 1 }))', {
    language: 'js',
    tools: ['any'],
    callTool,
  })
  expect(node.output).toBe('{ got: { a: 1 } }')
})

test.skipIf(!hasBash)('the environment of this process is not the code’s', async () => {
  process.env.TOOLWRIGHT_CANARY = 'canary'
  const { output } = await run(unisolatedLocalProcess({ ...options, env: { GIVEN: 'given' } }), 'env')
  delete process.env.TOOLWRIGHT_CANARY
  expect(output).not.toContain('canary')
  expect(output).toContain('GIVEN=given')
})

test.skipIf(!hasBash)('is ended at the deadline, with what it started', async () => {
  const word = marker()
  const hasty = unisolatedLocalProcess({ ...options, timeoutMs: 500 })
  const result = await run(hasty, `echo before; trap '' TERM; sleep ${word} & sleep ${word}`)
  expect(result).toEqual({ outcome: 'DEADLINE_EXCEEDED', output: 'before\n[stopped after 500 ms]' })
  await vi.waitFor(() => expect(alive(word)).toEqual([]))
})

test.skipIf(!hasBash)('does not wait for what it left in the background', async () => {
  const word = marker()
  expect((await run(executor, `sleep ${word} & echo done`)).output).toBe('done')
  await vi.waitFor(() => expect(alive(word)).toEqual([]))
})

test('is ended when nobody waits any more', async () => {
  const stop = new AbortController()
  const callTool = async () => {
    stop.abort(new Error('gone'))
    return {}
  }
  const code = 'await tools.stop({}); for (;;);'
  const running = run(executor, code, { language: 'js', tools: ['stop'], callTool, signal: stop.signal })
  await expect(running).rejects.toThrow('gone')
})

test.skipIf(!hasBash)('a flood of output is stopped', async () => {
  const { outcome, output } = await run(unisolatedLocalProcess({ ...options, maxOutputBytes: 1000 }), 'yes')
  expect([outcome, output.length < 1200]).toEqual(['FAILED', true])
})

test.skipIf(!hasBash)('links, pipes and second names of files elsewhere are not taken', async () => {
  const secret = join(folder, 'secret')
  writeFileSync(secret, 'secret')
  mkdirSync(join(folder, 'sub'))
  const code = `ln -s ${secret} link; ln ${secret} hard; mkfifo pipe; mkdir sub; echo mine > mine; head -c 20000 /dev/zero > big`
  const result = await run(unisolatedLocalProcess({ ...options, maxFileBytes: 10_000 }), code)
  expect(textsOf(result)).toEqual({ mine: 'mine\n' })
  expect(result.output).toContain('not kept:')
  expect(result.output).toContain('"hard"')
})

test('a program that is not there is trouble of ours, and nothing is left of the attempt', async () => {
  const ghost = unisolatedLocalProcess({
    ...options,
    languages: { ghost: ['no-such-program'], text: ['cat', '{file}'] },
  })
  await expect(run(ghost, '')).rejects.toThrow('"no-such-program" was not found')
  const folderAsProgram = unisolatedLocalProcess({ ...options, languages: { folder: ['/tmp'] } })
  await expect(run(folderAsProgram, '')).rejects.toThrow('"/tmp" was not found')
})
