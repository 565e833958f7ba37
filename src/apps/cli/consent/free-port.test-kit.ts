import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * A port of this machine without a listener. It is below the ports that the system gives to others who ask for any port, so that
 * no other test gets it meanwhile.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
