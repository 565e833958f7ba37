import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { file, hasBash, hasPython, run, textsByName } from '../executor.test-kit.ts'
import { processesWithArgument, uniqueArgument } from '../process/find-processes.test-kit.ts'
import { type UnisolatedLocalProcessOptions, unisolatedLocalProcess } from './unisolated-local-process.ts'

const warn = vi.fn()
const options = { iAcceptHostAccess: true, languages: ['bash', 'python', 'javascript'], logger: { warn } } as const
const executor = unisolatedLocalProcess(options)

// The executor creates its temporary folders here. The check at the end fails if one is left.
const folder = mkdtempSync(join(tmpdir(), 'toolwright-unisolated-'))
process.env.TMPDIR = folder
afterAll(() => {
  expect(readdirSync(folder).filter((name) => name.startsWith('toolwright-code-'))).toEqual([])
  rmSync(folder, { recursive: true })
})

test('unisolatedLocalProcess() requires iAcceptHostAccess: true', () => {
  const wrong = (iAcceptHostAccess: unknown) => () =>
    unisolatedLocalProcess({ languages: ['bash'], iAcceptHostAccess } as UnisolatedLocalProcessOptions)
  for (const value of [undefined, false, 'true', 1]) expect(wrong(value)).toThrow('iAcceptHostAccess: true')
  expect(wrong(true)).not.toThrow()
})

test.skipIf(!hasBash)('unisolatedLocalProcess() warns at every run and has the effect atMostOnce', async () => {
  warn.mockClear()
  await run(executor, 'true')
  await run(executor, 'true')
  expect(warn.mock.calls).toEqual([
    [expect.stringMatching(/^Running model-written code without isolation: .*bash$/)],
    [expect.stringContaining('without isolation')],
  ])
  expect(executor.effect).toBe('atMostOnce')
})

test.skipIf(!hasBash)('unisolatedLocalProcess() runs code with input and output files', async () => {
  const code = 'cat in.txt; echo new > out.txt; echo bad >&2; exit 4'
  const result = await run(executor, code, { files: [file('in.txt', 'given\n')] })
  expect(result).toMatchObject({ outcome: 'FAILED', output: 'given\n--- stderr ---\nbad\n[exit code 4]' })
  expect(textsByName(result)).toEqual({ 'out.txt': 'new\n' })
})

test('unisolatedLocalProcess() passes code on stdin to a command without {file}', async () => {
  const cat = unisolatedLocalProcess({ ...options, languages: { text: ['cat'] } })
  expect((await run(cat, 'as it is')).output).toBe('as it is')
})

test.skipIf(!hasPython)('unisolatedLocalProcess() lets Python and JavaScript call tools', async () => {
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

test.skipIf(!hasBash)('unisolatedLocalProcess() does not pass on the environment of the host', async () => {
  process.env.TOOLWRIGHT_CANARY = 'canary'
  const { output } = await run(unisolatedLocalProcess({ ...options, env: { GIVEN: 'given' } }), 'env')
  delete process.env.TOOLWRIGHT_CANARY
  expect(output).not.toContain('canary')
  expect(output).toContain('GIVEN=given')
})

test.skipIf(!hasBash)('unisolatedLocalProcess() kills code and its children at the deadline', async () => {
  const argument = uniqueArgument()
  const hasty = unisolatedLocalProcess({ ...options, timeoutMs: 500 })
  const result = await run(hasty, `echo before; trap '' TERM; sleep ${argument} & sleep ${argument}`)
  expect(result).toEqual({ outcome: 'DEADLINE_EXCEEDED', output: 'before\n[stopped after 500 ms]' })
  await vi.waitFor(() => expect(processesWithArgument(argument)).toEqual([]))
})

test.skipIf(!hasBash)('unisolatedLocalProcess() kills background processes when the code exits', async () => {
  const argument = uniqueArgument()
  expect((await run(executor, `sleep ${argument} & echo done`)).output).toBe('done')
  await vi.waitFor(() => expect(processesWithArgument(argument)).toEqual([]))
})

test('unisolatedLocalProcess() kills the code when the request is aborted', async () => {
  const stop = new AbortController()
  const callTool = async () => {
    stop.abort(new Error('gone'))
    return {}
  }
  const code = 'await tools.stop({}); for (;;);'
  const running = run(executor, code, { language: 'js', tools: ['stop'], callTool, signal: stop.signal })
  await expect(running).rejects.toThrow('gone')
})

test.skipIf(!hasBash)('unisolatedLocalProcess() stops code that prints endlessly', async () => {
  const { outcome, output } = await run(unisolatedLocalProcess({ ...options, maxOutputBytes: 1000 }), 'yes')
  expect([outcome, output.length < 1200]).toEqual(['FAILED', true])
})

test.skipIf(!hasBash)(
  'unisolatedLocalProcess() skips links, pipes, hard links and large files in the working directory',
  async () => {
    const secret = join(folder, 'secret')
    writeFileSync(secret, 'secret')
    mkdirSync(join(folder, 'sub'))
    const code = `ln -s ${secret} link; ln ${secret} hard; mkfifo pipe; mkdir sub; echo mine > mine; head -c 20000 /dev/zero > big`
    const result = await run(unisolatedLocalProcess({ ...options, maxFileBytes: 10_000 }), code)
    expect(textsByName(result)).toEqual({ mine: 'mine\n' })
    expect(result.output).toContain('not saved:')
    expect(result.output).toContain('"hard"')
  },
)

test('unisolatedLocalProcess() rejects when the program is not installed and leaves no folder', async () => {
  const ghost = unisolatedLocalProcess({
    ...options,
    languages: { ghost: ['no-such-program'], text: ['cat', '{file}'] },
  })
  await expect(run(ghost, '')).rejects.toThrow('"no-such-program" was not found')
  const folderAsProgram = unisolatedLocalProcess({ ...options, languages: { folder: ['/tmp'] } })
  await expect(run(folderAsProgram, '')).rejects.toThrow('"/tmp" was not found')
})
