// Brings a process to the kill points that are inside a transaction. The product has no hooks for them: the drivers are patched.
import { AsyncLocalStorage } from 'node:async_hooks'
import { StatementSync } from 'node:sqlite'
import type { Client } from 'pg'
import { isPostgres } from '../open-store.ts'
import type { Killer } from './killer.ts'

const currentMethod = new AsyncLocalStorage<string>()

/** Runs a method of a session service: its statements belong to it. */
export function inMethod<T>(method: string, work: () => T): T {
  return currentMethod.run(method, work)
}

/** Calls the killer after each statement of this process. */
export async function watchStatements(killer: Killer, store: string): Promise<void> {
  const afterStatement: AfterStatement = (sql, values, method) => {
    killer.step()
    if (!/^\s*(INSERT|UPDATE|DELETE|WITH)/i.test(sql)) return
    if (method === 'append' && values.some(isToolResult)) killer.reach('c8')
    if (method === 'append' && sql.includes('toolwright_checkpoints')) killer.reach('c15')
    if (method === 'renew') killer.reach('c12')
    if (method === 'release') killer.reach('c14')
  }
  if (isPostgres(store)) await patchPostgres(afterStatement)
  else patchSqlite(afterStatement)
}

type AfterStatement = (sql: string, values: readonly unknown[], method: string | undefined) => void

/** Is it an event with the result of a tool? An approval is a response, too. */
function isToolResult(value: unknown): boolean {
  return typeof value === 'string' && value.includes('"functionResponse"') && !value.includes('"confirmed":')
}

function patchSqlite(afterStatement: AfterStatement): void {
  for (const name of ['run', 'get', 'all'] as const) {
    const original: (...values: never[]) => unknown = StatementSync.prototype[name]
    const patched = function (this: StatementSync, ...values: never[]): unknown {
      const result = original.apply(this, values)
      afterStatement(this.sourceSQL, values, currentMethod.getStore())
      return result
    }
    Object.defineProperty(StatementSync.prototype, name, { value: patched })
  }
}

/** A query that writes its messages itself, as those of the store do. */
interface SubmittedQuery {
  submit(connection: object): void
  callback(error: unknown, results?: unknown): void
}

async function patchPostgres(afterStatement: AfterStatement): Promise<void> {
  const { default: pg } = await import('pg')
  const original: (...args: never[]) => unknown = pg.Client.prototype.query
  const patched = function (this: Client, ...args: never[]): unknown {
    const [query] = args as readonly unknown[]
    if (typeof query === 'object' && query !== null && 'submit' in query)
      watchQuery(query as unknown as SubmittedQuery, afterStatement)
    return original.apply(this, args)
  }
  Object.defineProperty(pg.Client.prototype, 'query', { value: patched })
}

/** The statements that connections have under a name: a name stands for one text. */
const namedTexts = new Map<string, string>()

/** Writes down the statements of a query, and reports them when the server has answered. */
function watchQuery(query: SubmittedQuery, afterStatement: AfterStatement): void {
  const method = currentMethod.getStore() // the answer comes from the socket, which belongs to no method
  const { submit, callback } = query
  const sent: { readonly text: string; readonly values: readonly unknown[] }[] = []
  let parsed = ''
  query.submit = (connection) => {
    const { parse, bind } = connection as { readonly [name: string]: (message: never) => void }
    const recording: object = Object.create(connection, {
      parse: {
        value: (message: { readonly text: string; readonly name?: string }) => {
          parsed = message.text
          if (message.name) namedTexts.set(message.name, message.text)
          parse?.call(connection, message as never)
        },
      },
      bind: {
        value: (message: { readonly statement?: string; readonly values: readonly unknown[] }) => {
          const text = message.statement ? (namedTexts.get(message.statement) ?? '') : parsed
          sent.push({ text, values: message.values })
          bind?.call(connection, message as never)
        },
      },
    })
    submit.call(query, recording)
  }
  query.callback = (error, results) => {
    if (!error) for (const { text, values } of sent) afterStatement(text, values, method)
    callback.call(query, error, results)
  }
}
