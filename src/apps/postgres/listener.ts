import { kindOf } from '../../core/base/kind-of.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { listenClientOf } from './listen-client.ts'
import type { OpenListener } from './listening.ts'
import type { PostgresConnection, PostgresPool } from './pool.ts'
import { placeOf } from './source.ts'

/** How the option `listen` is followed: by a connection to its URL, by default to the database of the source. Undefined: by polling. */
export function listenerOf(listen: unknown, source: PostgresPool | PostgresConnection): OpenListener | undefined {
  if (listen === undefined) return listenClientOf(source)
  if (listen === false) return undefined
  if (typeof listen !== 'string') {
    throw new ToolwrightError('INVALID_CONFIG', `postgres(): listen must be a URL or false, got ${kindOf(listen)}.`)
  }
  placeOf(listen, 'The URL in listen')
  return listenClientOf({ connectionString: listen })
}
