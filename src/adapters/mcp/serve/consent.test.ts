// Tools that need a sign-in, with a real authorization server and real clients.
import { respond, tool } from 'toolwright'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from '../../../services/auth/authorization-server.test-kit.ts'
import { UserAgent } from '../../../services/auth/user-agent.test-kit.ts'
import { connect, startServer } from './serve.test-kit.ts'
import type { McpService } from './serve-mcp.ts'

let provider: AuthorizationServer
beforeEach(async () => {
  provider = await startAuthorizationServer()
})
afterEach(() => provider.close())

async function serveMail(options: { httpSessions?: boolean; consentWaitMs?: number } = {}) {
  const tokens: unknown[] = []
  const mail = tool({
    name: 'mail',
    description: 'Sends a mail',
    authConfig: provider.oauth2Config(),
    run: (_, { authCredential }) => {
      tokens.push(authCredential?.oauth2?.accessToken)
      return 'sent'
    },
  })
  return { server: await startServer({ tools: [mail], ...options }), tokens }
}

/** The callback route of the app: answers the request with the URL that the browser was sent to. */
async function finishConsent(server: McpService, authUri: string): Promise<void> {
  const authResponseUri = await new UserAgent().consent(authUri)
  const [request] = await server.runner.pending({ userId: 'local' })
  if (!request) throw new Error('no request')
  const { sessionId } = request
  await server.runner.complete({ userId: 'local', sessionId, message: [respond(request, { authResponseUri })] })
}

describe.each([
  ['2026', false],
  ['2025', true],
] as const)('a client of %s', (era, httpSessions) => {
  test('opens the sign-in page and gets the result after the sign-in', async () => {
    const { server, tokens } = await serveMail({ httpSessions })
    let signedIn: Promise<void> | undefined
    const elicit = ({ mode, url }: Record<string, unknown>) => {
      expect(mode).toBe('url')
      signedIn = finishConsent(server, String(url))
      return { action: 'accept' as const }
    }
    const client = await connect(server.url, { era, elicit })
    expect(await client.callTool({ name: 'mail' })).toMatchObject({ content: [{ text: 'sent' }] })
    await signedIn
    expect(tokens).toEqual([expect.any(String)])
  })

  test('declines the sign-in, and the tool does not run', async () => {
    const { server, tokens } = await serveMail({ httpSessions })
    const client = await connect(server.url, { era, elicit: () => ({ action: 'decline' }) })
    expect(await client.callTool({ name: 'mail' })).toMatchObject({ isError: true })
    expect(tokens).toEqual([])
  })

  test('that cannot open pages gets the address of the sign-in, and the next call succeeds', async () => {
    const { server, tokens } = await serveMail({ httpSessions })
    const client = await connect(server.url, { era })
    const { isError, content } = await client.callTool({ name: 'mail' })
    const [block] = content
    const text = block?.type === 'text' ? block.text : ''
    expect(isError).toBe(true)
    await finishConsent(server, /sign in at (\S+)\. /.exec(text)?.[1] ?? '')
    expect(await client.callTool({ name: 'mail' })).toMatchObject({ content: [{ text: 'sent' }] })
    expect(tokens).toHaveLength(2)
  })
})

test('a user who says that the sign-in is done, but has not signed in, is asked again', async () => {
  const { server, tokens } = await serveMail({ consentWaitMs: 0 })
  let asked = 0
  const elicit = () => ({ action: ++asked < 3 ? ('accept' as const) : ('decline' as const) })
  const client = await connect(server.url, { era: '2026', elicit })
  expect(await client.callTool({ name: 'mail' })).toMatchObject({ isError: true })
  expect(asked).toBe(3)
  expect(tokens).toEqual([])
})
