// A small API on this machine, as pets.yaml describes it. It answers only requests with its key.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export const apiKey = 'key-of-the-example'

interface Pet {
  readonly name: string
  readonly kind: string
}

/** Starts the API, on any free port by default, and returns its URL, and a function that stops it. */
export async function startApi(wanted = 0): Promise<{ url: string; stop(): void }> {
  const pets: Pet[] = [{ name: 'Minka', kind: 'cat' }]
  const server = createServer(async (request, response) => {
    const send = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const [, , name] = pathname.split('/').map(decodeURIComponent)
    if (request.headers['x-api-key'] !== apiKey) return send(401, { error: 'The key is missing or wrong.' })
    if (request.method === 'GET') {
      const kind = searchParams.get('kind')
      return send(200, { pets: pets.filter((pet) => kind === null || pet.kind === kind) })
    }
    if (request.method === 'POST') {
      const text = (await request.toArray()).join('')
      pets.push(JSON.parse(text))
      return send(201, { pets: pets.length })
    }
    const at = pets.findIndex((pet) => pet.name === name)
    return at < 0 ? send(404, { error: `There is no ${name}.` }) : send(200, { deleted: pets.splice(at, 1)[0]?.name })
  }).listen(wanted, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, stop: () => void server.close() }
}
