// For tests only: the program of another process that resolves credentials from a shared SQLite file.

import { isRecord } from '../../core/base/json.ts'
import { systemPorts } from '../../core/base/ports.ts'
import type { CheckedAuthConfig } from '../../services/auth/config/check-auth-config.ts'
import { type CredentialOutcome, resolveCredential } from '../../services/auth/resolve-credential.ts'
import { type SqliteServices, sqlite } from './sqlite.ts'

let services: SqliteServices | undefined

/** Kills the process when the authorization server has answered, before the answer is stored. */
const dyingFetch: typeof fetch = async (...request) => {
  await (await fetch(...request)).text()
  process.kill(process.pid, 'SIGKILL')
  return await new Promise(() => {})
}

function resolve(options: {
  readonly config: CheckedAuthConfig
  /** How far the clock is ahead, in milliseconds. */
  readonly shift: number
  readonly calls: number
  readonly dies: boolean
}): Promise<CredentialOutcome[]> {
  if (!services) throw new Error('No file is open.')
  const { config, shift, calls, dies } = options
  const auth = {
    appName: 'shop',
    userId: 'ada',
    credentialService: services.credentialService,
    ports: { ...systemPorts, now: () => Date.now() + shift },
    fetch: dies ? dyingFetch : fetch,
  }
  return Promise.all(Array.from({ length: calls }, () => resolveCredential(auth, 'mail', config)))
}

process.on('message', async (message) => {
  if (!isRecord(message) || !Array.isArray(message.args)) return
  const { id, command, args } = message
  try {
    if (command === 'open') services = sqlite(String(args[0]))
    process.send?.({ id, result: command === 'resolve' ? await resolve(args[0]) : undefined })
  } catch (error) {
    process.send?.({ id, error: { code: 'INTERNAL', message: String(error) } })
  }
})
