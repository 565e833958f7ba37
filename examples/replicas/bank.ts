// A bank: the world outside, which knows nothing of agents. It pays each key once, however often it is asked.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** A running bank. */
export interface Bank {
  /** Where it takes payments. */
  readonly url: string
  /** What it has paid, by key. */
  readonly paid: ReadonlyMap<string, number>
  /** How often it was asked to pay. */
  readonly requests: number
  /** Stops it. */
  close(): void
}

/** Opens the bank. It pays first, then calls `beforeAnswer` with the name of the client, then answers. */
export async function openBank(beforeAnswer: (client: string) => Promise<void>): Promise<Bank> {
  const paid = new Map<string, number>()
  let requests = 0
  const server = createServer(async (request, response) => {
    const { 'idempotency-key': key, 'x-client': client } = request.headers
    const { amount } = (await json(request)) as { amount: number }
    requests++
    paid.set(String(key), amount)
    await beforeAnswer(String(client))
    response.end(JSON.stringify({ paid: amount }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    paid,
    get requests() {
      return requests
    },
    close,
  }
}
