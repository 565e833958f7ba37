// The client under test: an agent with the tools of the server that a scenario starts. The suite passes the URL of the
// server as the last argument, and the scenario in the environment.
import {
  InMemoryCredentialService,
  LlmAgent,
  type OfferedTool,
  type Part,
  type PendingRequest,
  Runner,
  respond,
} from 'toolwright'
import { McpToolset } from 'toolwright/mcp'
import { scriptedModel } from 'toolwright/testing'
import { exampleOf, type JsonSchema } from './example-of.ts'

const MAX_ANSWERS = 10
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? ''
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}')

const toolset = new McpToolset({
  connection: { type: 'http', url: process.argv.at(-1) ?? '' },
  connectTimeoutMs: 30_000, // many scenarios run at the same time
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
    // a client without a redirect URI gets a token for itself
    ...(!scenario.includes('client-credentials') && { redirectUris: ['http://127.0.0.1:8765/callback'] }),
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
  },
})

const model = scriptedModel([
  ({ tools }) =>
    tools.size > 0 ? { calls: [...tools.keys()].map((name) => callOf(name, tools)) } : 'There is no tool.',
  'Done.',
])
const agent = new LlmAgent({ name: 'conformance', model, tools: [toolset] })
const runner = new Runner({ appName: 'conformance', agent, credentialService: new InMemoryCredentialService() })

let { pending, sessionId } = await runner.complete({ userId: 'ada', message: 'Use the tools.' })
for (let answers = 0; pending.length > 0 && answers < MAX_ANSWERS; answers++) {
  const message = await Promise.all(pending.map(answer))
  pending = (await runner.complete({ userId: 'ada', sessionId, message })).pending
}
await runner.close()

/** The call of a tool: with the arguments of the scenario, else with the fewest that its schema allows. */
function callOf(
  name: string,
  tools: ReadonlyMap<string, OfferedTool>,
): { name: string; args: Record<string, unknown> } {
  const given = context.toolCalls?.find((call: { name: string }) => call.name === name)
  // a null that the schema does not allow never reaches the server: the model omits the argument
  if (given) return { name, args: withoutNulls(given.arguments) }
  // this scenario wants back the schema that the model sees of another tool
  if (name === 'json_schema_echo') return { name, args: { schema: schemaOf(tools.get('json_schema_2020_12_tool')) } }
  return { name, args: exampleOf(schemaOf(tools.get(name))) as Record<string, unknown> }
}

function withoutNulls(args: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null))
}

function schemaOf(tool: OfferedTool | undefined): JsonSchema {
  return (tool?.declaration()?.parametersJsonSchema ?? {}) as JsonSchema
}

/** Consents at the authorization page, which redirects at once, or answers a question of the server. */
async function answer(request: PendingRequest): Promise<Part> {
  if (request.kind !== 'credential') return respond(request, exampleOf((request.schema ?? {}) as JsonSchema))
  const response = await fetch(request.authUri ?? '', { redirect: 'manual' })
  return respond(request, { authResponseUri: response.headers.get('location') ?? '' })
}
