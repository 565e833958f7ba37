// Shared by scenarios of credentials: a real authorization server, a mail tool that needs its token, and processes over
// one store of sessions and one of credentials.
import {
  type AuthConfig,
  type Event,
  InMemoryCredentialService,
  InMemorySessionService,
  LlmAgent,
  type LlmAgentOptions,
  type PendingRequest,
  Runner,
  type RunnerOptions,
  type Tool,
  tool,
} from 'toolwright'
import { type ScriptedStep, scriptedModel, strictModel } from 'toolwright/testing'
import { type Mock, vi } from 'vitest'
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from '../../src/services/auth/authorization-server.test-kit.ts'
import { UserAgent } from '../../src/services/auth/user-agent.test-kit.ts'

export const where = { userId: 'ada', sessionId: 's1' }

/** A desk: the server, the stores, what the tool saw, and what the operator saw. */
export interface Desk extends AsyncDisposable {
  readonly server: AuthorizationServer
  readonly sessionService: InMemorySessionService
  readonly credentialService: InMemoryCredentialService
  /** Called with the access token of each run of the mail tool. */
  readonly sent: Mock<(accessToken: string | undefined) => void>
  readonly warnings: string[]
  /** The mail tool. */
  mail(more?: Partial<Tool>): Tool
  /** A process of its own over the stores of the desk. */
  start(options: {
    tools?: LlmAgentOptions['tools']
    steps?: readonly ScriptedStep[]
    runner?: Partial<RunnerOptions>
  }): Runner
}

export async function openDesk(serverOptions?: Parameters<typeof startAuthorizationServer>[0]): Promise<Desk> {
  const server = await startAuthorizationServer(serverOptions)
  const sessionService = new InMemorySessionService()
  const credentialService = new InMemoryCredentialService()
  const sent = vi.fn()
  const warnings: string[] = []
  const note = (text: string): void => void warnings.push(text)
  const mail = (more: Partial<Tool> = {}): Tool => ({
    ...tool({
      name: 'mail',
      description: 'Sends a mail',
      authConfig: server.oauth2Config(),
      run: (_args, { authCredential }) => {
        sent(authCredential?.oauth2?.accessToken)
        return { sent: true }
      },
    }),
    ...more,
  })
  return {
    server,
    sessionService,
    credentialService,
    sent,
    warnings,
    mail,
    start: ({ tools = [mail()], steps = [], runner }) => {
      const agent = new LlmAgent({ name: 'agent', model: strictModel(scriptedModel(steps)), tools })
      const logger = { warn: note, error: note }
      return new Runner({ appName: 'app', agent, sessionService, credentialService, logger, ...runner })
    },
    [Symbol.asyncDispose]: () => server.close(),
  }
}

/** The calls of one reply. */
export function callsOf(...names: string[]): ScriptedStep {
  return { calls: names.map((name, at) => ({ name, id: `c${at + 1}`, args: {} })) }
}

/** The only pending request. */
export async function onlyRequest(runner: Runner): Promise<PendingRequest> {
  const pending = await runner.pending(where)
  if (pending.length !== 1) throw new Error(`Expected one pending request, got ${pending.length}.`)
  return pending[0] as PendingRequest
}

/** The callback URL after the user has logged in and consented. */
export function consentTo({ authUri }: PendingRequest): Promise<string> {
  if (authUri === undefined) throw new Error('The request has no authUri.')
  return new UserAgent().consent(authUri)
}

/** The responses that the model got, by call id. */
export function responsesIn(events: readonly Event[]): Record<string, unknown> {
  const found = events.flatMap(({ content }) => content?.parts.flatMap((part) => part.functionResponse ?? []) ?? [])
  return Object.fromEntries(found.map(({ id, response }) => [id, response]))
}

/** A configuration whose client secret is this text. */
export function withSecret(config: AuthConfig, clientSecret: string): AuthConfig {
  const { rawAuthCredential: raw } = config
  if (!raw) return config
  return { ...config, rawAuthCredential: { ...raw, oauth2: { ...raw.oauth2, clientSecret } } }
}
