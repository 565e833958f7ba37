import { ToolwrightError } from '../../../core/error/error.ts'
import { isLoopbackHost } from '../../server/guard/allowed-hosts.ts'

/** The shortest token for other machines. */
const MIN_TOKEN_LENGTH = 16

/** Throws if other machines could reach the server without a secret that the operator has chosen. */
export function checkRemoteAccess(
  host: string,
  { token = '', hasAuthenticate }: { token: string | undefined; hasAuthenticate: boolean },
): void {
  if (hasAuthenticate || isLoopbackHost(host) || token.length >= MIN_TOKEN_LENGTH) return
  const problem =
    token === '' ? 'requests would need no secret of yours' : `TOOLWRIGHT_TOKEN has only ${token.length} characters`
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `Other machines can reach "${host}", but ${problem}. Set TOOLWRIGHT_TOKEN to a random text of at least ${MIN_TOKEN_LENGTH} characters, export \`authenticate\` from the agent file, or remove --host to serve this machine only.`,
  )
}
