// Attempts to escape from the JavaScript engine. Each prints ESCAPED when it reaches an object of the host, and "tried" at
// the end. The marked attempts escape from node:vm, which shares its engine with the host: this proves that they work.
import { createContext, runInContext } from 'node:vm'
import { afterEach, describe, expect, test } from 'vitest'
import { run } from '../executor.test-kit.ts'
import { quickjs } from './quickjs.ts'

const executor = quickjs({ timeoutMs: 5000 })
process.env.TOOLWRIGHT_CANARY = 'canary'

/** `host(x)` prints ESCAPED if x is an object of the host: its process, a module, its environment. */
const HELPERS = `
const host = (found) => {
  if (found === undefined || found === null) return
  const text = [typeof found.pid, typeof found.env, typeof found.readFileSync, typeof found.exec].join()
  if (text !== 'undefined,undefined,undefined,undefined') console.log('ESCAPED')
}
const attempt = (way) => { try { return host(way()) } catch {} }
`

const attempts: readonly (readonly [name: string, code: string, worksInNodeVm?: true])[] = [
  ['the constructor of a constructor', `attempt(() => this.constructor.constructor('return process')())`, true],
  ['the constructor of a host function', `attempt(() => console.log.constructor('return process')())`, true],
  [
    'the constructor of the result of a host function',
    `attempt(() => listFiles().constructor.constructor('return process')())`,
    true,
  ],
  [
    'an error of a host function',
    `try { readFile('nothing') } catch (error) { attempt(() => error.constructor.constructor('return process')()) }`,
    true,
  ],
  [
    'a promise of a host function',
    `const given = tools.any({}); given.catch?.(() => {}); attempt(() => given.constructor.constructor('return process')())`,
    true,
  ],
  [
    'the result of a tool',
    `const answer = await tools.any({}).catch((error) => error); attempt(() => answer.constructor.constructor('return process')())`,
    true,
  ],
  [
    'the prototype of a host function',
    `attempt(() => Object.getPrototypeOf(readFile).constructor('return process')())`,
    true,
  ],
  [
    'constructors of generators and async functions',
    `for (const make of [() => {}, async () => {}, function* () {}, async function* () {}]) attempt(() => make.constructor('return process')())`,
  ],
  [
    'eval, direct and indirect',
    `attempt(() => eval('process')); attempt(() => (0, eval)('process')); attempt(() => new Function('return process')()); attempt(() => setTimeout('process', 0))`,
  ],
  [
    'globals of Node, Deno, Bun and browsers',
    `for (const name of ['process', 'require', 'module', 'Buffer', 'global', 'Deno', 'Bun', 'std', 'os', 'bjson', 'scriptArgs', '__dirname', 'self', 'window', 'parentPort', 'workerData'])
  if (globalThis[name] !== undefined) console.log('ESCAPED ' + name)`,
  ],
  [
    'network and messaging globals',
    `for (const name of ['fetch', 'XMLHttpRequest', 'WebSocket', 'EventSource', 'Worker', 'MessageChannel', 'BroadcastChannel', 'WebAssembly', 'importScripts', 'navigator', 'queueMicrotask', 'setInterval', 'structuredClone'])
  if (globalThis[name] !== undefined) console.log('ESCAPED ' + name)`,
  ],
  [
    'an import',
    `for (const name of ['fs', 'node:fs', 'node:child_process', 'std', 'os', 'qjs:std', './worker.ts', '/etc/passwd', 'file:///etc/passwd', 'data:text/javascript,1'])
  await import(name).then(() => console.log('ESCAPED ' + name), () => {})`,
  ],
  ['a meta property', `attempt(() => { const meta = eval('import.meta'); return meta.url ? { pid: 1 } : undefined })`],
  [
    'the caller of a function',
    `attempt(() => { const f = function () { return f.caller ?? arguments.callee.caller }; return (0, f)()?.constructor('return process')() })`,
  ],
  [
    'a structured stack trace',
    `Error.prepareStackTrace = (_, frames) => frames; Error.stackTraceLimit = 100
attempt(() => new Error().stack?.[0]?.getThis?.()); try { readFile('nothing') } catch (error) { attempt(() => error.stack?.[0]?.getFunction?.()?.constructor('return process')()) }`,
  ],
  [
    'a stack trace with paths of the host',
    `try { readFile('nothing') } catch (error) { if (/quickjs[-/]|node_modules|file:|[/]src[/]|[/]dist[/]/.test(error.stack + error.message)) console.log('ESCAPED') }
await tools.fails({}).catch((error) => { if (/quickjs[-/]|node_modules|file:|[/]src[/]/.test(error.stack)) console.log('ESCAPED') })`,
  ],
  [
    'a stack overflow in a host function',
    `const deep = () => { try { deep() } catch (error) { attempt(() => error.constructor.constructor('return process')()) } }; deep()`,
  ],
  [
    'a proxy passed to the host',
    `const trap = new Proxy({}, { get: (_, key) => { attempt(() => key?.constructor?.constructor('return process')()); return undefined }, ownKeys: () => ['a'], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }) })
console.log(trap); await tools.any(trap).catch(() => {}); try { writeFile(trap, trap) } catch {}`,
  ],
  [
    'a getter passed to the host',
    `await tools.any({ get a() { attempt(() => this.constructor.constructor('return process')()); return 1 }, toJSON: undefined }).catch(() => {})`,
  ],
  [
    'a patched Promise.prototype.then',
    `const then = Promise.prototype.then
Promise.prototype.then = function (good, bad) { attempt(() => good?.constructor('return process')()); return then.call(this, good, bad) }
await tools.any({}).catch(() => {}); Promise.prototype.then = then`,
  ],
  [
    'a patched Symbol.species',
    `class Mine extends Array { static get [Symbol.species]() { return function () { attempt(() => this.constructor.constructor('return process')()); return [] } } }
Mine.from([1, 2]).map((x) => x); listFiles().map((x) => x)`,
  ],
  [
    'polluted prototypes',
    `Object.prototype.polluted = 'ESCAPED'; Array.prototype.polluted = 1; Function.prototype.polluted = 1; await tools.any(JSON.parse('{"__proto__":{"polluted":"ESCAPED"}}')).catch(() => {}); delete Object.prototype.polluted`,
  ],
  [
    'patched JSON and Map functions',
    `const { parse } = JSON; JSON.parse = (text) => ({ constructor: 1 }); JSON.stringify = () => ({ toString() { return 'process' } }); Map.prototype.get = () => { throw 1 }; console.log('still'); listFiles(); JSON.parse = parse`,
  ],
  [
    'prelude functions with invalid arguments',
    `for (const f of [readFile, readBytes, writeFile, listFiles, setTimeout, clearTimeout, tools.any])
  for (const args of [[], [null], [Symbol()], [{}, {}], [() => {}], [-1], [1e308], ['\\0'], [new Proxy({}, {})]]) { try { host(f(...args)) } catch {} try { host(f.call(null, ...args)) } catch {} }`,
  ],
  [
    'file names that are paths',
    `for (const name of ['/etc/passwd', '../../../etc/passwd', 'file:///etc/passwd', '/proc/self/environ', '.env', 'package.json', '\\0/etc/passwd'])
  { try { readFile(name); console.log('ESCAPED') } catch {} try { writeFile('/tmp/' + name, 'x'); console.log('ESCAPED') } catch {} }`,
  ],
  [
    'shared memory',
    `if (typeof Atomics !== 'undefined') console.log('ESCAPED')
const shared = new SharedArrayBuffer(8); try { writeFile('shared', shared) } catch {} try { writeFile('shared', new Uint8Array(shared)) } catch {}`,
  ],
  [
    'a detached or forged buffer',
    `const buffer = new ArrayBuffer(8); try { buffer.transfer?.() } catch {} try { writeFile('gone', buffer) } catch {} try { writeFile('gone', { byteLength: 1e9 }) } catch {}
try { writeFile('far', new Uint8Array(new ArrayBuffer(8), 4, 4)) } catch {}`,
  ],
  [
    'weak references',
    `let found; new FinalizationRegistry((value) => { found = value }).register({}, 'held'); attempt(() => new WeakRef(console).deref().constructor.constructor('return process')())`,
  ],
  [
    'inherited or undeclared tools',
    `for (const name of ['__proto__', 'constructor', 'toString', 'other', 'prototype']) if (typeof tools[name] === 'function') console.log('ESCAPED ' + name)
try { 'use strict'; tools.other = () => {}; if (tools.other) console.log('ESCAPED') } catch {}`,
  ],
  [
    'environment variables',
    `if (JSON.stringify(globalThis, (key, value) => typeof value === 'function' ? String(value) : value).includes('canary')) console.log('ESCAPED')`,
  ],
]

afterEach(() => expect(({} as { polluted?: string }).polluted).toBeUndefined())

const tools = ['any', 'fails']
const callTool = async (name: string, args: object): Promise<Record<string, unknown>> => {
  if (name === 'fails') throw new Error('no')
  return { polluted: (args as { polluted?: string }).polluted ?? 'clean' }
}

test.concurrent.each(attempts)('quickjs() code does not reach the host through %s', async (_, code) => {
  const { output } = await run(executor, `${HELPERS}${code}\nconsole.log('tried')`, { tools, callTool })
  expect(output).not.toContain('ESCAPED')
  expect(output).not.toContain('canary')
  expect(output).toMatch(/^tried$/m)
})

describe('node:vm, for comparison', () => {
  test.each(attempts.filter(([, , works]) => works))('lets code reach the host through %s', async (_, code) => {
    const printed: string[] = []
    const given = {
      console: { log: (text: string) => void printed.push(text) },
      listFiles: () => [],
      readFile: () => {
        throw new Error('no')
      },
      tools: { any: async () => ({}) },
    }
    await runInContext(`(async () => { ${HELPERS}${code} })()`, createContext(given))
    expect(printed).toContain('ESCAPED')
  })
})

test('quickjs() runs harmless code beside the escape helpers', async () => {
  expect((await run(executor, `${HELPERS} host({}); [1, 2].map((x) => x * 2)`)).output).toBe('[ 2, 4 ]')
})
