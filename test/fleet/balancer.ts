// The load balancer in front of the workers: one address, and a worker for each connection in turn.
import type { ListenOptions } from 'node:net'
import { forward } from './forward.ts'

/** A balancer that listens. */
export interface Balancer {
  /** Its address. */
  readonly url: string
  /** The ports of the workers that run. */
  readonly ports: Set<number>
  close(): void
}

/** Starts a balancer without workers. `url`: its address, if it is behind another one. */
export async function startBalancer(
  listen: ListenOptions = { host: '127.0.0.1', port: 0 },
  url?: string,
): Promise<Balancer> {
  const ports = new Set<number>()
  let turn = 0
  const next = (): { host: string; port: number } | undefined => {
    const all = [...ports]
    const port = all[turn++ % Math.max(1, all.length)]
    return port === undefined ? undefined : { host: '127.0.0.1', port }
  }
  const { port, close } = await forward(listen, next)
  return { url: url ?? `http://127.0.0.1:${port}`, ports, close }
}
