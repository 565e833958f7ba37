import { isRecord } from '../../../core/base/json.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { ToolwrightServer } from '../../server/create-server.ts'

/** How many ports are tried, from the default one. */
const MAX_TRIES = 20

/** Where to listen. */
interface ListenPlace {
  /** `--host`. */
  readonly host: string
  /** The first port. */
  readonly port: number
  /** Tries the next ports if the port is in use. */
  readonly triesNext: boolean
}

/** Listens on the port, or on the next free one. Throws an error that names the port if it is in use. */
export async function listenOnFreePort(
  server: Pick<ToolwrightServer, 'listen'>,
  { host, port, triesNext }: ListenPlace,
): Promise<{ readonly url: string; readonly port: number }> {
  const tries = triesNext ? MAX_TRIES : 1
  for (let at = 0; at < tries; at++) {
    try {
      return await server.listen({ host, port: port + at })
    } catch (error) {
      if (codeOf(error) !== 'EADDRINUSE') throw listenError(error, host, port)
    }
  }
  const which = tries > 1 ? `The ports ${port} to ${port + tries - 1} are` : `Port ${port} is`
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `${which} in use by another program. Pass --port with a free one, or --port 0 to take any.`,
  )
}

function listenError(error: unknown, host: string, port: number): unknown {
  const code = codeOf(error)
  if (code === 'EACCES')
    return new ToolwrightError('INVALID_CONFIG', `You may not listen on port ${port}. Pass --port with 1024 or more.`)
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new ToolwrightError(
      'INVALID_CONFIG',
      `"${host}" is not an address of this machine. Pass --host 127.0.0.1, or 0.0.0.0 for all addresses.`,
    )
  return error
}

/** The code of a system error, also when the server has wrapped it. */
function codeOf(error: unknown): unknown {
  if (!isRecord(error)) return undefined
  return isRecord(error.cause) && typeof error.cause.code === 'string' ? error.cause.code : error.code
}
