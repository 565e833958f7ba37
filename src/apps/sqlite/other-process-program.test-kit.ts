// The program of the other process in a test: runs the commands that the test sends over IPC.
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { entryOf, HOME, intentOf } from '../../adapters/testing/suites/session-fixtures.ts'
import { isRecord } from '../../core/base/json.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { type SqliteServices, sqlite } from './sqlite.ts'

let services: SqliteServices | undefined

const commands = new Map<string, (...args: readonly unknown[]) => unknown>([
  [
    'open',
    (file, time) => {
      services = sqlite(String(file), typeof time === 'number' ? { now: () => time } : {})
    },
  ],
  ['call', (method, ...args) => call(String(method), args)],
  ['credential', (method, ...args) => callCredentials(String(method), args)],
  ['lock', (file) => lock(String(file))],
  ['unlock', unlock],
  ['contend', (times) => contend(Number(times))],
  ['appendForever', appendForever],
  ['order', () => runToEnd('order')],
  ['pay', () => runToEnd('pay')],
])

process.on('message', async (message) => {
  if (!isRecord(message) || !Array.isArray(message.args)) return
  const { id, command, args } = message
  try {
    process.send?.({ id, result: await commands.get(String(command))?.(...args) })
  } catch (error) {
    const code = error instanceof ToolwrightError ? error.code : 'INTERNAL'
    process.send?.({ id, error: { code, message: String(error) } })
  }
})

function opened(): SqliteServices {
  if (!services) throw new Error('No file is open.')
  return services
}

function call(method: string, args: readonly unknown[]): unknown {
  return callMethod(opened().sessionService, method, args)
}

function callCredentials(method: string, args: readonly unknown[]): unknown {
  return callMethod(opened().credentialService, method, args)
}

function callMethod(service: object, method: string, args: readonly unknown[]): unknown {
  const found: unknown = Reflect.get(service, method)
  if (typeof found !== 'function') throw new Error(`The service has no method "${method}".`)
  return Reflect.apply(found, service, args)
}

let locker: DatabaseSync | undefined

/** Takes the write lock of a file until `unlock`. */
function lock(file: string): void {
  locker = new DatabaseSync(file)
  locker.exec('BEGIN IMMEDIATE')
}

function unlock(): void {
  locker?.exec('ROLLBACK')
  locker?.close()
}

/** Claims and releases the session a number of times, with an append at the start and the end of each lease. */
async function contend(times: number): Promise<void> {
  const { sessionService } = opened()
  for (let n = 0; n < times; ) {
    const lease = await sessionService.claim(HOME).catch((error) => {
      if (error instanceof ToolwrightError && error.code === 'SESSION_BUSY') return undefined
      throw error
    })
    if (lease) {
      const seq = await sessionService.append(lease, lease.seq, [entryOf(`${process.pid} ${n} in ${lease.epoch}`)])
      await setImmediate()
      await sessionService.append(lease, seq, [entryOf(`${process.pid} ${n} out ${lease.epoch}`)])
      await sessionService.release(lease)
      n++
    }
    await setImmediate()
  }
}

/** Appends an event with a state change and a record in a loop, and reports each append. */
async function appendForever(): Promise<never> {
  const { sessionService } = opened()
  const lease = await sessionService.claim(HOME)
  for (let { seq } = lease; ; ) {
    const pair = [entryOf(`e${seq}`, { count: seq / 2 + 1 }), intentOf(`c${seq}`)]
    seq = await sessionService.append(lease, seq, pair)
    report(seq)
    await setImmediate()
  }
}

/** Executes a run whose model makes one call. */
async function runToEnd(name: string): Promise<unknown> {
  const { shop } = await import('./shop.test-kit.ts')
  return await shop(opened(), [{ calls: [{ name, id: `${name}1` }] }], report).send('Go')
}

function report(progress: unknown): void {
  process.send?.({ progress })
}
