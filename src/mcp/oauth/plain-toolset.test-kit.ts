// For tests only: the smallest toolset of an MCP server over HTTP that asks for authorization.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { checkAuthConfig } from '../../auth/config/check-auth-config.ts'
import { credentialKeyOf } from '../../auth/config/credential-key.ts'
import type { AuthConfig, AuthCredential } from '../../content/auth.ts'
import type { ReadonlyContext, ToolContext } from '../../tool/context.ts'
import { CredentialRequired } from '../../tool/credential-required.ts'
import { tool } from '../../tool/define-tool.ts'
import type { Tool } from '../../tool/tool.ts'
import type { Toolset } from '../../tool/toolset.ts'
import { tokenOf } from './auth-headers.ts'
import { type DiscoverAuthOptions, discoverAuth } from './discover-auth.ts'

/** Options of `plainToolset()`. */
export type PlainToolsetOptions = Partial<Omit<DiscoverAuthOptions, 'serverUrl' | 'challenge' | 'context'>> & {
  /** The protocol of the server. Default: 2025. */
  readonly mode?: 'legacy' | 'auto'
}

const MAX_REFUSALS = 3

/** A toolset that connects for each listing and each call. */
export function plainToolset(serverUrl: URL, options: PlainToolsetOptions = {}): Toolset {
  const { mode = 'legacy', ...discovery } = options
  const ask = (context: ReadonlyContext, refusal: Refusal): Promise<AuthConfig> =>
    discoverAuth({ auth: undefined, ...discovery, ...refusal, serverUrl, context })

  const call = async (name: string, args: Record<string, unknown>, context: ToolContext): Promise<unknown> => {
    let credential: AuthCredential | undefined
    for (let refusals = 0; ; refusals++) {
      const answer = await connect({ serverUrl, mode, credential }, (client) =>
        client.callTool({ name, arguments: args }),
      )
      if (!('challenge' in answer)) return answer.result
      if (refusals === MAX_REFUSALS) return { error: 'The server refuses every credential.' }
      const config = await ask(context, answer)
      const key = await credentialKeyOf(checkAuthConfig(config, 'the test'))
      const outcome = await context.getCredential(key, config)
      if (outcome.status === 'failed') return { error: outcome.reason }
      if (outcome.status === 'needs-auth') return context.requestCredential(key, config)
      credential = outcome.credential
    }
  }

  return {
    name: 'plain',
    listTools: async (context): Promise<readonly Tool[]> => {
      const credential = context.authCredential
      const answer = await connect({ serverUrl, mode, credential }, (client) => client.listTools())
      if ('challenge' in answer) throw new CredentialRequired(await ask(context, answer))
      return answer.result.tools.map(({ name, description = name, inputSchema }) =>
        tool({
          name,
          description,
          parameters: inputSchema as object,
          run: (args, inner) => call(name, args as never, inner),
        }),
      )
    },
  }
}

interface Refusal {
  readonly challenge: string | undefined
  readonly credential?: AuthCredential | undefined
}

async function connect<T>(
  { serverUrl, mode, credential }: { serverUrl: URL; mode: 'legacy' | 'auto'; credential: AuthCredential | undefined },
  work: (client: Client) => Promise<T>,
): Promise<{ readonly result: T } | Refusal> {
  let refusal: Refusal | undefined
  const token = credential && tokenOf(credential)
  const send: typeof fetch = async (url, init) => {
    const headers = new Headers(init?.headers)
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
    const response = await fetch(url, { ...init, headers })
    if (response.status === 401 || response.status === 403) {
      refusal = { challenge: response.headers.get('www-authenticate') ?? undefined, credential }
    }
    return response
  }
  const client = new Client({ name: 'toolwright', version: '0.1.0' }, { versionNegotiation: { mode } })
  try {
    await client.connect(new StreamableHTTPClientTransport(serverUrl, { fetch: send }))
    return { result: await work(client) }
  } catch (error) {
    if (refusal) return refusal
    throw error
  } finally {
    await client.close()
  }
}
