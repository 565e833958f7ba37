// Brings a process to the kill points that are inside a transaction. The product has no hooks for them: the drivers are patched.
import { AsyncLocalStorage } from 'node:async_hooks'
import { StatementSync } from 'node:sqlite'
import type { Client, QueryConfig } from 'pg'
import type { Killer } from './killer.ts'

const currentMethod = new AsyncLocalStorage<string>()

/** Runs a method of a session service: its statements belong to it. */
export function inMethod<T>(method: string, work: () => T): T {
  return currentMethod.run(method, work)
}

/** Calls the killer after each statement of this process. */
export async function watchStatements(killer: Killer, store: string): Promise<void> {
  const afterStatement = (sql: string, values: readonly unknown[]): void => {
    killer.step()
    if (!/^\s*(INSERT|UPDATE|DELETE|WITH)/i.test(sql)) return
    const method = currentMethod.getStore()
    if (method === 'append' && values.flat().some(isToolResult)) killer.reach('c8')
    if (method === 'renew') killer.reach('c12')
    if (method === 'release') killer.reach('c14')
  }
  if (store.startsWith('postgres:')) await patchPostgres(afterStatement)
  else patchSqlite(afterStatement)
}

/** Is it an event with the result of a tool? An approval is a response, too. */
function isToolResult(value: unknown): boolean {
  return typeof value === 'string' && value.includes('"functionResponse"') && !value.includes('"confirmed":')
}

type AfterStatement = (sql: string, values: readonly unknown[]) => void

function patchSqlite(afterStatement: AfterStatement): void {
  for (const name of ['run', 'get', 'all'] as const) {
    const original: (...values: never[]) => unknown = StatementSync.prototype[name]
    const patched = function (this: StatementSync, ...values: never[]): unknown {
      const result = original.apply(this, values)
      afterStatement(this.sourceSQL, values)
      return result
    }
    Object.defineProperty(StatementSync.prototype, name, { value: patched })
  }
}

async function patchPostgres(afterStatement: AfterStatement): Promise<void> {
  const { default: pg } = await import('pg')
  const original: (...args: never[]) => unknown = pg.Client.prototype.query
  const patched = function (this: Client, ...args: never[]): unknown {
    const [query, given] = args as readonly unknown[]
    const { text, values } = typeof query === 'string' ? { text: query, values: given } : (query as QueryConfig)
    const result = original.apply(this, args)
    if (!(result instanceof Promise)) return result
    return result.then((rows: unknown) => {
      afterStatement(text, Array.isArray(values) ? values : [])
      return rows
    })
  }
  Object.defineProperty(pg.Client.prototype, 'query', { value: patched })
}
