import { messageOf } from '../../error/error.ts'
import type { ReadonlyContext } from '../../tool/context.ts'
import { CredentialRequired } from '../../tool/credential-required.ts'
import { maskSecrets, secretsOf } from '../call/mask-secrets.ts'
import { Identities } from '../identity.ts'
import type { McpToolsetOptions } from '../mcp-toolset-options.ts'
import { toLine } from '../warnings.ts'
import { McpConnection, RefusedError } from './connection.ts'
import { ConnectionPool } from './connection-pool.ts'
import type { Era } from './open-client.ts'

/** The way to a server: its connections, the credentials they use, and the secrets it knows. */
export class ServerLink {
  /** The credentials of the users. */
  readonly identities: Identities
  readonly #options: McpToolsetOptions
  readonly #pool = new ConnectionPool()
  #era: Era | undefined

  constructor(options: McpToolsetOptions) {
    this.#options = options
    this.identities = new Identities(options)
  }

  /** The connection for the user of a context. Opens it if there is none. */
  async connect(context: ReadonlyContext): Promise<McpConnection> {
    const { connection: server, connectTimeoutMs: timeoutMs = 5_000, sampling } = this.#options
    const headers = await this.identities.headers(context)
    const connection = await this.#pool.get(this.identities.connectionKey(context), async () => {
      const opened = await McpConnection.open({ server, timeoutMs, era: this.#era, sampling, headers })
      this.#era = opened.era
      return opened
    })
    connection.http.setHeaders(headers)
    return connection
  }

  /** Connects and reads something. Throws `CredentialRequired` if the server wants another credential. */
  async read<T>(context: ReadonlyContext, ask: (connection: McpConnection) => Promise<T>): Promise<T> {
    let connection: McpConnection | undefined
    try {
      connection = await this.connect(context)
      return await ask(connection)
    } catch (error) {
      const refusal = error instanceof RefusedError ? error : connection?.http.takeRefusal()
      if (refusal) throw new CredentialRequired(await this.identities.refused(context, refusal.challenge))
      const secrets = await this.secrets(context).catch(() => [])
      const reason = toLine(maskSecrets(messageOf(error), secrets))
      throw new Error(`the MCP server cannot be used: ${reason}`, { cause: error })
    }
  }

  /** The secrets that the server knows: headers, and environment variables with telling names. */
  async secrets(context: ReadonlyContext): Promise<string[]> {
    const { connection } = this.#options
    const variables = connection.type === 'stdio' ? Object.entries(connection.env ?? {}) : []
    const secret = variables.filter(([name]) => /key|token|secret|password|credential/i.test(name))
    return secretsOf({ ...(await this.identities.headers(context)), ...Object.fromEntries(secret) })
  }

  /** Closes all connections. A later use connects again. */
  close(): Promise<void> {
    return this.#pool.close()
  }
}
