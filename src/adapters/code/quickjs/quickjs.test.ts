import { describe, expect, test, vi } from 'vitest'
import { file, run, textsByName } from '../executor.test-kit.ts'
import { quickjs } from './quickjs.ts'

const executor = quickjs()
const output = async (code: string): Promise<string> => (await run(executor, code)).output

describe.concurrent('the output of quickjs()', () => {
  test('contains printed text and the value of the last expression', async () => {
    expect(await run(executor, 'console.log("one", 2); console.error("bad"); console.warn("too"); 6 * 7')).toEqual({
      outcome: 'OK',
      output: 'one 2\n42\n--- stderr ---\nbad\ntoo',
    })
    expect(await run(executor, 'const x = 1')).toEqual({ outcome: 'OK', output: '' })
  })

  test('formats objects, maps, dates and cycles readably', async () => {
    const values = `console.log({ a: [1, 'x', { b: null }], 'c-d': undefined })
console.log(new Map([['k', new Set([1])]]), new Date(0), /x/g, 5n, -0, Symbol('s'), function named() {}, class A {})
console.log(new Uint8Array(3), Object.create(null), new (class Point { x = 1 })(), [], {}, Promise.resolve(1))
const circle = {}; circle.self = circle; console.log(circle)
console.log({ get broken() { throw new Error('no') } }, 'after')
new Array(40).fill('element')`
    expect((await output(values)).split('\n')).toEqual([
      '{ a: [ 1, "x", { b: null } ], "c-d": undefined }',
      'Map(1) { "k" => Set(1) { 1 } } 1970-01-01T00:00:00.000Z /x/g 5n -0 Symbol(s) [Function: named] [Function: A]',
      'Uint8Array(3) [ 0, 0, 0 ] {} Point { x: 1 } [] {} Promise',
      '{ self: [Circular] }',
      '[value that cannot be printed] after',
      '[',
      ...new Array(39).fill('  "element",'),
      '  "element"',
      ']',
    ])
  })

  test('contains the value of an awaited last expression', async () => {
    expect(await output('const x = await Promise.resolve(20); Promise.resolve(x + 1)')).toBe('21')
  })

  test('preserves NUL, surrogates and line separators', async () => {
    expect(await output('"zero\\0 surrogate\\ud83d\\ude00 line\\u2028 €"')).toBe('zero\0 surrogate😀 line\u2028 €')
  })
})

describe.concurrent('an error in quickjs()', () => {
  test.each([
    ['1\n2\nnull.x', "TypeError: cannot read property 'x' of null\n    at <eval> (code.js:3:5)"],
    [
      'function f() { throw new RangeError("r") }\nf()',
      'RangeError: r\n    at f (code.js:1:36)\n    at <eval> (code.js:2:2)',
    ],
    ['let a = 1\nlet b = (', "SyntaxError: unexpected token in expression: ''\n    at code.js:2:10"],
    ['throw { code: 5 }', 'Uncaught { code: 5 }'],
    ['await Promise.reject("no")', 'Uncaught no'],
    ['setTimeout(() => { throw new Error("late") }, 1); "fine"', 'Error: late\n    at <anonymous> (code.js:1:35)'],
    ['await new Promise(() => {})', 'The code awaits a promise that never settles.'],
  ])('is shown with its position: %j', async (code, error) => {
    const result = await run(executor, code)
    expect(result.outcome).toBe('FAILED')
    expect(result.output.split('--- stderr ---\n')[1]).toBe(error)
  })

  test('names the supported languages when the language is unknown', async () => {
    expect(await run(executor, '1', { language: 'python' })).toEqual({
      outcome: 'FAILED',
      output: 'Cannot run "python" code. Supported languages: javascript.',
    })
    expect((await run(executor, '1', { language: 'JS' })).outcome).toBe('OK')
  })
})

test('quickjs() runs pending timers before the run ends, unless they are cleared', async () => {
  const code = `setTimeout((word) => console.log(word), 5, 'later')
const never = setTimeout(() => console.log('never'), 10)
clearTimeout(never)
console.log('now')`
  expect(await output(code)).toBe('now\nlater')
})

describe.concurrent('files in quickjs()', () => {
  test('are read and written by name', async () => {
    const code = `writeFile('out.txt', readFile('in.txt').toUpperCase())
writeFile('out.bin', new Uint8Array([1, 2, 3, 4]).subarray(1, 3))
writeFile('in.txt', 'changed')
console.log(listFiles(), readBytes('in.txt').length, readFile('odd.txt') === 'a\\0b€')`
    const files = [file('in.txt', 'given'), file('odd.txt', 'a\0b€')]
    const result = await run(executor, code, { files })
    expect(result.output).toBe('[ "in.txt", "odd.txt", "out.txt", "out.bin" ] 7 true')
    expect(textsByName(result)).toEqual({ 'in.txt': 'changed', 'out.txt': 'GIVEN', 'out.bin': '\u0002\u0003' })
  })

  test('are refused above maxFiles or maxFileBytes, and under a name that is not plain', async () => {
    const few = quickjs({ maxFiles: 2, maxFileBytes: 10 })
    const attempt = (code: string) => run(few, `try { ${code} } catch (error) { error.message }`)
    expect((await attempt(`for (const name of 'abc') writeFile(name, '')`)).output).toContain(
      'A run can write at most 2 files. Put the data into fewer files.',
    )
    expect(
      (await attempt(`writeFile('a', 'x'.repeat(6)); writeFile('a', 'x'.repeat(9)); writeFile('b', 'xx')`)).output,
    ).toBe('A run can write at most 10 bytes to files. Write less data.')
    expect((await attempt(`writeFile('../a', '')`)).output).toBe(
      '"../a" is not a plain file name. Use a name without folders, such as "result.csv".',
    )
    expect((await attempt(`writeFile('a', {})`)).output).toContain('takes text')
    expect((await attempt(`readFile('/etc/passwd')`)).output).toContain('File "/etc/passwd" does not exist')
  })

  test('reject the request when an input file has a path as its name', async () => {
    await expect(run(executor, '1', { files: [file('a/b', '')] })).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  })
})

describe.concurrent('tools in quickjs()', () => {
  const tools = ['add', 'fail', 'odd-name']
  const callTool = async (name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> => {
    if (name === 'fail') throw new Error('Which order?')
    return { name, sum: Number(args.a) + Number(args.b), text: '\u0000€' }
  }

  test('are called by name', async () => {
    const code = `const { sum, text } = await tools.add({ a: 1, b: 2 })
console.log(sum, text === '\\0€', (await tools['odd-name']()).name, Object.keys(tools))
try { await tools.fail() } catch (error) { console.log(error.name, error.message) }
await tools.add('text').catch((error) => console.log(error.message))
await tools.fail()`
    const { outcome, output } = await run(executor, code, { tools, callTool })
    expect(outcome).toBe('FAILED')
    expect(output).toBe(`3 true odd-name [ "add", "fail", "odd-name" ]
ToolError Which order?
Tool "add" takes one object with named arguments.
--- stderr ---
ToolError: Which order?
    at <eval> (code.js:5:17)`)
  })

  test('run at the same time when the code awaits them together', async () => {
    const answers: (() => void)[] = []
    const together = (_: string, { n }: Record<string, unknown>) =>
      new Promise<Record<string, unknown>>((resolve) => {
        answers.push(() => resolve({ n }))
        if (answers.length === 3) for (const answer of answers.toReversed()) answer()
      })
    const code = 'const all = await Promise.all([1, 2, 3].map((n) => tools.one({ n }))); all.map(({ n }) => n)'
    expect((await run(executor, code, { tools: ['one'], callTool: together })).output).toBe('[ 1, 2, 3 ]')
  })

  test('finish before the run ends, even if the code does not await them', async () => {
    const code = 'tools.add({ a: 1, b: 1 }).then(({ sum }) => console.log(sum)); "first"'
    expect((await run(executor, code, { tools, callTool })).output).toBe('first\n2')
  })

  test('exist only under the names of the request', async () => {
    const called: string[] = []
    const code = 'console.log(typeof tools.other, typeof tools.constructor, typeof tools.__proto__); tools.other()'
    const { outcome, output } = await run(executor, code, {
      tools: ['add'],
      callTool: async (name) => {
        called.push(name)
        return {}
      },
    })
    expect([outcome, output.split('\n')[0], called]).toEqual(['FAILED', 'undefined undefined undefined', []])
    expect((await run(executor, 'tools')).output).toBe('{}')
  })

  test('do not extend the deadline of the run', async () => {
    const short = quickjs({ timeoutMs: 300 })
    const never = () => new Promise<never>(() => {})
    expect(
      await run(short, 'console.log("asked"); await tools.never()', { tools: ['never'], callTool: never }),
    ).toEqual({
      outcome: 'DEADLINE_EXCEEDED',
      output: 'asked\n[stopped after 300 ms]',
    })
  })
})

describe.concurrent('aborting a quickjs() run', () => {
  test('rejects with the reason of the signal', async () => {
    const stop = new AbortController()
    const callTool = async () => {
      stop.abort(new Error('gone'))
      return {}
    }
    const running = run(executor, 'await tools.stop(); for (;;);', { tools: ['stop'], callTool, signal: stop.signal })
    await expect(running).rejects.toThrow('gone')
    await expect(run(executor, '1', { signal: stop.signal })).rejects.toThrow('gone')
  })

  test('rejects while the engine is still starting', async () => {
    const stop = new AbortController()
    const running = run(executor, '1', { signal: stop.signal })
    stop.abort(new Error('gone'))
    await expect(running).rejects.toThrow('gone')
  })
})

describe.concurrent('variables in quickjs()', () => {
  test('are gone in the next run by default', async () => {
    await run(executor, 'globalThis.left = 1; var also = 2')
    expect(await output('typeof left + typeof also')).toBe('undefinedundefined')
  })

  test('are kept for each session with stateful', async () => {
    const kept = quickjs({ stateful: true })
    expect(kept.stateful).toBe(true)
    const at = (sessionKey: string, code: string) => run(kept, code, { sessionKey })
    await at('ada', 'const rate = 2; let count = 1; writeFile("note", "ada")')
    await at('bob', 'const rate = 3')
    expect((await at('ada', 'count += 1; rate * count')).output).toBe('4')
    expect((await at('bob', 'typeof count + rate + listFiles().length')).output).toBe('undefined30')
    expect((await at('ada', 'const rate = 1')).output).toContain("redeclaration of 'rate'")
    expect((await at('ada', 'throw new Error("x")')).outcome).toBe('FAILED')
    expect((await at('ada', 'rate + readFile("note")')).output).toBe('2ada')
    await kept.shutdown?.()
    expect((await at('ada', 'typeof rate')).output).toBe('undefined')
    await kept.shutdown?.()
  })

  test('are safe because runs of one session are serialized', async () => {
    const kept = quickjs({ stateful: true })
    await run(kept, 'let n = 0')
    const code = 'const before = n; await new Promise((r) => setTimeout(r, 5)); n = before + 1'.replace(
      'const before',
      'var before',
    )
    await Promise.all([1, 2, 3].map(() => run(kept, code)))
    expect((await run(kept, 'n')).output).toBe('3')
    await kept.shutdown?.()
  })

  test('are lost when a run is stopped, and the output says so', async () => {
    const kept = quickjs({ stateful: true, timeoutMs: 300 })
    await run(kept, 'let n = 1')
    const { outcome, output } = await run(kept, 'for (;;);')
    expect([outcome, output]).toEqual([
      'DEADLINE_EXCEEDED',
      '[stopped after 300 ms]\n[the variables of this session are lost]',
    ])
    expect((await run(kept, 'typeof n')).output).toBe('undefined')
    await kept.shutdown?.()
  })

  test('are lost when the memory is full', async () => {
    const kept = quickjs({ stateful: true, memoryBytes: 10_000_000 })
    const { output } = await run(kept, 'var a = []; for (;;) a.push(new Uint8Array(1e5))')
    expect(output).toContain('out of memory')
    expect(output).toContain('[the variables of this session are lost]')
    expect((await run(kept, 'typeof a')).output).toBe('undefined')
    await kept.shutdown?.()
  })

  test('are kept for maxSessions sessions; the longest idle is dropped first', async () => {
    const kept = quickjs({ stateful: true, maxSessions: 2 })
    const has = async (sessionKey: string) => (await run(kept, 'typeof mine', { sessionKey })).output === 'number'
    for (const sessionKey of ['a', 'b', 'a', 'c']) await run(kept, 'var mine = 1', { sessionKey })
    expect([await has('a'), await has('c')]).toEqual([true, true])
    expect(await has('b')).toBe(false)
    await kept.shutdown?.()
  })

  test('are dropped after idleMs without a run', async () => {
    let idle = (): void => {}
    const cancelTimer = vi.fn()
    const setTimer = (callback: () => void, ms: number) => {
      expect(ms).toBe(5000)
      idle = callback
      return cancelTimer
    }
    const kept = quickjs({ stateful: true, idleMs: 5000, ports: { setTimer } })
    await run(kept, 'var mine = 1')
    expect((await run(kept, 'typeof mine')).output).toBe('number')
    expect(cancelTimer).toHaveBeenCalledTimes(1)
    idle()
    expect((await run(kept, 'typeof mine')).output).toBe('undefined')
    await kept.shutdown?.()
  })
})

describe.concurrent('the options of quickjs()', () => {
  test('are rejected when a limit is out of range', () => {
    expect(() => quickjs({ memoryBytes: 0 })).toThrow('memoryBytes must be')
    expect(() => quickjs({ stackBytes: 50_000_000 })).toThrow('stackBytes must be')
    expect(() => quickjs({ timeoutMs: -1 })).toThrow('timeoutMs must be')
  })

  test('are described to the model in the instruction', () => {
    expect(executor).toMatchObject({ languages: ['javascript'], stateful: false, callsTools: true })
    expect(executor.instruction).toContain('writeFile(name, textOrBytes)')
    expect(executor.instruction).not.toContain('Variables stay')
    expect(quickjs({ stateful: true }).instruction).toContain('Variables stay')
  })
})
