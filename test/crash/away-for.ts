import { setTimeout as delay } from 'node:timers/promises'
import type { PostgresServer } from '../postgres/server.ts'

/** Stops a server at once, and starts it again later. Returns how long it was away, in milliseconds. */
export async function awayFor(server: PostgresServer, ms: number): Promise<number> {
  const started = performance.now()
  await server.send('stop immediately')
  await delay(ms)
  await server.send('start')
  return performance.now() - started
}
