import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { file, findWorkingIsolations, hasBash, hasPython, run, textsByName } from '../executor.test-kit.ts'
import { type IsolatedProcessOptions, isolatedProcess } from './isolated-process.ts'

const isolations = await findWorkingIsolations()

describe.concurrent.each(isolations)('isolatedProcess() with %s', (isolation) => {
  const createExecutor = (options: Partial<IsolatedProcessOptions>) =>
    isolatedProcess({ languages: ['bash', 'python', 'javascript'], isolation, ...options })
  const executor = createExecutor({})

  test.skipIf(!hasBash)('returns stdout, then stderr, then the exit code', async () => {
    expect(await run(executor, 'echo out; echo err >&2; exit 3')).toEqual({
      outcome: 'FAILED',
      output: 'out\n--- stderr ---\nerr\n[exit code 3]',
    })
    expect(await run(executor, 'echo fine')).toEqual({ outcome: 'OK', output: 'fine' })
  })

  test.skipIf(!hasPython)('returns the traceback of Python', async () => {
    const { outcome, output } = await run(executor, 'x = 1\nprint(x)\nraise ValueError("no")', { language: 'py' })
    expect(outcome).toBe('FAILED')
    expect(output).toMatch(/^1\n--- stderr ---\nTraceback[\s\S]*line 3[\s\S]*ValueError: no\n\[exit code 1\]$/)
  })

  test('runs JavaScript in the Node of the host, with imports and await', async () => {
    const code = `import { createHash } from 'node:crypto'
      await null
      console.log(process.version, createHash('md5').update('').digest('hex').slice(0, 6))`
    expect(await run(executor, code, { language: 'JavaScript' })).toEqual({
      outcome: 'OK',
      output: `${process.version} d41d8c`,
    })
  })

  test('passes code on stdin to a command without {file}', async () => {
    const { output } = await run(createExecutor({ languages: { text: ['cat', '-n'] } }), 'one\ntwo\n')
    expect(output).toBe('     1\tone\n     2\ttwo')
  })

  test.skipIf(!hasBash)('returns new and changed files, but not unchanged input files', async () => {
    const code =
      'cat in.txt; echo more >> in.txt; printf 1,2 > out.csv; mkdir sub; echo x > sub/deep; mv keep.txt kept.txt; mv kept.txt keep.txt'
    const result = await run(executor, code, { files: [file('in.txt', 'given\n'), file('keep.txt', 'same')] })
    expect(result.output).toBe('given')
    expect(textsByName(result)).toEqual({ 'in.txt': 'given\nmore\n', 'out.csv': '1,2' })
    expect(result.files?.find(({ name }) => name === 'out.csv')?.mimeType).toBe('text/csv')
  })

  test.skipIf(!hasBash)('returns the files of a run that failed', async () => {
    expect(textsByName(await run(executor, 'echo x > a; exit 1'))).toEqual({ a: 'x\n' })
  })

  test.skipIf(!hasBash)('starts every run with an empty disk', async () => {
    expect(executor.stateful).toBeUndefined()
    await run(executor, 'echo x > a; echo y > ../b')
    expect((await run(executor, 'ls /tmp /tmp/work')).output).toBe('/tmp:\nrun\nshm\nwork\n\n/tmp/work:')
  })

  test('lists the supported languages when the language is unknown', async () => {
    expect(await run(executor, 'puts 1', { language: 'ruby' })).toEqual({
      outcome: 'FAILED',
      output: 'Cannot run "ruby" code. Supported languages: bash, python, javascript.',
    })
  })

  test.skipIf(!hasBash)('passes only its own variables and the option env to the code', async () => {
    process.env.TOOLWRIGHT_SECRET = 'secret'
    const { output } = await run(createExecutor({ env: { GIVEN: 'given' } }), 'env | cut -d= -f1 | sort | tr "\\n" " "')
    delete process.env.TOOLWRIGHT_SECRET
    expect(output).toBe(
      'GIVEN HOME LANG OLDPWD PATH PWD PYTHONDONTWRITEBYTECODE PYTHONPATH PYTHONUNBUFFERED SHLVL TMPDIR _ '.replace(
        isolation === 'unshare' ? 'OLDPWD ' : '\n',
        '',
      ),
    )
  })

  describe('tools', () => {
    const tools = ['add', 'fail']
    const callTool = async (name: string, args: Record<string, unknown>) => {
      if (name === 'fail') throw new Error('Which order?')
      return { sum: Number(args.a) + Number(args.b), text: 'ü\n€' }
    }

    test.skipIf(!hasPython)('can be called from Python', async () => {
      const code = `import tools
print(tools.add(a=1, b=2))
print(tools.add({"a": 2}, b=2)["sum"])
try:
    tools.fail()
except tools.ToolError as error:
    print("said:", error)
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool:
    print(sum(answer["sum"] for answer in pool.map(lambda n: tools.add(a=n, b=n), range(10))))
`
      const { output } = await run(executor, code, { language: 'python', tools, callTool })
      expect(output).toBe(`{'sum': 3, 'text': 'ü\\n€'}\n4\nsaid: Which order?\n90`)
    })

    test('can be called from JavaScript, several at one time', async () => {
      const code = `const answers = await Promise.all([1, 2, 3].map((a) => tools.add({ a, b: 1 })))
console.log(answers.map(({ sum }) => sum), answers[0].text)
console.log(await tools.fail({}).catch((error) => error.name + ': ' + error.message))
console.log(await tools.add('text').catch((error) => error.message))
tools.add({ a: 5, b: 5 }).then(({ sum }) => console.log('late', sum))`
      const { outcome, output } = await run(executor, code, { language: 'js', tools, callTool })
      expect({ outcome, output }).toEqual({
        outcome: 'OK',
        output: '[ 2, 3, 4 ] ü\n€\nToolError: Which order?\nTool "add" takes one object with named arguments.\nlate 10',
      })
    })

    test('do not exist if the request has none', async () => {
      expect((await run(executor, 'console.log(typeof tools)', { language: 'js' })).output).toBe('undefined')
    })

    test.skipIf(!hasBash)('stop the run when a line on the tool channel is not a tool call', async () => {
      const { outcome, output } = await run(executor, 'require', { callTool, tools })
      expect([outcome, output]).toEqual(['FAILED', expect.stringContaining('require: command not found')])
      const code = `const { writeSync } = await import('node:fs'); writeSync(5, 'nonsense\\n'); await new Promise((r) => setTimeout(r, 20_000))`
      expect(await run(executor, code, { language: 'js', tools, callTool })).toEqual({
        outcome: 'FAILED',
        output: '[stopped: a line on the tool channel is not a valid tool call]',
      })
    })
  })

  describe('stopping a run', () => {
    test('returns the output printed before the deadline', async () => {
      const code = 'console.log("before"); for (;;);'
      expect(await run(createExecutor({ timeoutMs: 1000 }), code, { language: 'js' })).toEqual({
        outcome: 'DEADLINE_EXCEEDED',
        output: 'before\n[stopped after 1000 ms]',
      })
    })

    test('rejects with the reason of the signal when aborted', async () => {
      const stop = new AbortController()
      const callTool = async () => {
        stop.abort(new Error('gone'))
        return {}
      }
      const running = run(executor, 'await tools.stop({}); for (;;);', {
        language: 'js',
        tools: ['stop'],
        callTool,
        signal: stop.signal,
      })
      await expect(running).rejects.toThrow('gone')
      await expect(run(executor, '1', { language: 'js', signal: stop.signal })).rejects.toThrow('gone')
    })
  })

  describe('readOnlyPaths', () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolwright-paths-'))
    afterAll(() => rmSync(folder, { recursive: true }))
    mkdirSync(join(folder, 'shown'), { mode: 0o755 })
    mkdirSync(join(folder, 'shown_evil'))
    writeFileSync(join(folder, 'shown/data'), 'data')
    writeFileSync(join(folder, 'shown_evil/secret'), 'secret')
    symlinkSync(join(folder, 'shown_evil/secret'), join(folder, 'shown/link'))
    chmodSync(folder, 0o755) // a sandbox started by root runs as another user

    test.skipIf(!hasBash)('can be read but not written', async () => {
      const readOnlyPaths = [join(folder, 'shown')]
      const code = `cd ${folder}; ls; cat shown/data; cat shown/link; echo x > shown/data; echo x > shown/new; rm shown/link`
      const { output } = await run(createExecutor({ readOnlyPaths }), code)
      expect(output).toContain('shown\ndata\n--- stderr ---')
      expect(output).not.toContain('secret\n')
      expect(output.match(/Read-only file system/g)).toHaveLength(3)
      expect(readdirSync(join(folder, 'shown')).sort()).toEqual(['data', 'link'])
    })

    test.skipIf(!hasBash)('are the only folders outside the system that code sees', async () => {
      const { output } = await run(executor, `ls ${folder} 2>&1; echo tried`)
      expect(output).toMatch(/No such file or directory\ntried$/)
    })
  })
})

describe('the options of isolatedProcess()', () => {
  test('are rejected when a value is invalid', () => {
    const wrong = (options: object) => () =>
      isolatedProcess({ languages: ['bash'], ...options } as IsolatedProcessOptions)
    expect(wrong({ readOnlyPaths: ['relative'] })).toThrow('"relative" must be an absolute path that exists')
    expect(wrong({ readOnlyPaths: ['/'] })).toThrow('must be an absolute path')
    expect(wrong({ readOnlyPaths: ['/proc/self'] })).toThrow('must be an absolute path')
    expect(wrong({ readOnlyPaths: ['/no/such/path'] })).toThrow('must be an absolute path')
    expect(wrong({ timeoutMs: 0 })).toThrow('timeoutMs must be')
    expect(wrong({ processes: -1 })).toThrow('processes must be')
    expect(wrong({ languages: [] })).toThrow('languages is empty')
  })

  test('are described to the model in the instruction', () => {
    const { instruction, callsTools, languages, effect } = isolatedProcess({ languages: ['python', 'bash'] })
    expect(instruction).toContain('Your input files are in the working directory')
    expect(instruction).toContain('import tools')
    expect(instruction).not.toContain('await tools')
    expect({ callsTools, languages, effect }).toEqual({
      callsTools: true,
      languages: ['python', 'bash'],
      effect: undefined,
    })
    expect(isolatedProcess({ languages: ['bash'] }).callsTools).toBe(false)
  })
})

test('isolatedProcess() rejects a run when the program is not installed', async () => {
  const executor = isolatedProcess({ languages: { ghost: ['no-such-program'] } })
  await expect(run(executor, '')).rejects.toThrow('"no-such-program" was not found')
})

test('isolatedProcess() rejects a run with input files above diskBytes or with a path as a name', async () => {
  const executor = isolatedProcess({ languages: ['bash'], diskBytes: 20_000 })
  await expect(run(executor, '', { files: [file('big', 'x'.repeat(20_000))] })).rejects.toMatchObject({
    code: 'TOO_LARGE',
  })
  await expect(run(executor, '', { files: [file('../a', '')] })).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
})
