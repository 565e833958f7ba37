// The client under test: an agent with the tools of the server that a scenario starts. The suite passes the URL of the
// server as the last argument, and the scenario in the environment.
import { InMemoryCredentialService, LlmAgent, type Part, type PendingRequest, Runner, respond } from 'toolwright'
import { McpToolset } from 'toolwright/mcp'
import { scriptedModel } from 'toolwright/testing'

const MAX_CONSENTS = 10
const redirectUri = 'http://127.0.0.1:8765/callback'
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}')
const isOwnClient = /client-credentials/.test(process.env.MCP_CONFORMANCE_SCENARIO ?? '')

const toolset = new McpToolset({
  connection: { type: 'http', url: process.argv.at(-1) ?? '' },
  auth: context.client_id && {
    rawAuthCredential: {
      authType: 'oauth2',
      oauth2: {
        clientId: context.client_id,
        ...(context.client_secret && { clientSecret: context.client_secret }),
        ...(context.private_key_pem && { privateKey: context.private_key_pem }),
      },
    },
  },
  clientMetadata: {
    clientName: 'conformance',
    redirectUris: isOwnClient ? [] : [redirectUri],
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
  },
})

/** Calls each tool once. */
const model = scriptedModel([
  ({ tools }) => (tools.size > 0 ? { calls: [...tools.keys()].map((name) => ({ name })) } : 'There is no tool.'),
  'Done.',
])
const agent = new LlmAgent({ name: 'conformance', model, tools: [toolset] })
const runner = new Runner({ appName: 'conformance', agent, credentialService: new InMemoryCredentialService() })

let { pending, sessionId } = await runner.complete({ userId: 'ada', message: 'Use the tools.' })
for (let consents = 0; pending.length > 0 && consents < MAX_CONSENTS; consents++) {
  const message = await Promise.all(pending.map(consent))
  pending = (await runner.complete({ userId: 'ada', sessionId, message })).pending
}
await runner.close()

/** Opens the authorization page, which redirects at once, and answers with the callback URL. */
async function consent(request: PendingRequest): Promise<Part> {
  const response = await fetch(request.authUri ?? '', { redirect: 'manual' })
  return respond(request, { authResponseUri: response.headers.get('location') ?? '' })
}
