// Edited arguments for tools of OpenAPI documents and MCP servers.
import { approve, LlmAgent, type PendingRequest, Runner, type Toolset } from 'toolwright'
import { McpToolset } from 'toolwright/mcp'
import { OpenApiToolset } from 'toolwright/openapi'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { hostileHttp } from '../mcp/hostile-kit.ts'
import { responsesOf } from './kit.ts'

/** A toolset with the tool `echo`, and the arguments that its API or server got. */
interface Api extends AsyncDisposable {
  readonly toolset: Toolset
  sent(): unknown
}

type AllowEditedArgs = boolean | readonly string[]

async function openApi(allowEditedArgs: AllowEditedArgs): Promise<Api> {
  const sent: unknown[] = []
  const parameters = [{ name: 'text', in: 'query', required: true, schema: { type: 'string' } }]
  const toolset = new OpenApiToolset({
    spec: {
      openapi: '3.1.0',
      info: { title: 't', version: '1' },
      paths: { '/echo': { post: { operationId: 'echo', parameters } }, '/other': { get: { operationId: 'other' } } },
    },
    baseUrl: 'https://api.example.com',
    fetch: (async ({ url }: Request) => {
      sent.push(Object.fromEntries(new URL(url).searchParams))
      return Response.json({ ok: true })
    }) as typeof fetch,
    requiresConfirmation: true,
    allowEditedArgs,
  })
  return { toolset, sent: () => sent, [Symbol.asyncDispose]: async () => {} }
}

async function mcp(allowEditedArgs: AllowEditedArgs): Promise<Api> {
  const server = await hostileHttp('honest')
  const toolset = new McpToolset({ connection: server.connection, requiresConfirmation: true, allowEditedArgs })
  const calls = () => server.memory.received.filter(({ method }) => method === 'tools/call')
  return {
    toolset,
    sent: () => calls().map(({ params }) => params?.arguments),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

const who = { userId: 'ada', sessionId: 's1' }

function start(toolset: Toolset): Runner {
  const model = scriptedModel([{ calls: [{ name: 'echo', args: { text: 'model' } }] }, 'done'])
  return new Runner({ appName: 'app', agent: new LlmAgent({ name: 'a', model, tools: [toolset] }) })
}

async function ask(runner: Runner): Promise<PendingRequest> {
  const { pending } = await runner.complete({ ...who, message: 'go' })
  if (!pending[0]) throw new Error('There is no request.')
  return pending[0]
}

describe.each([
  ['OpenApiToolset', openApi, 'other'],
  ['McpToolset', mcp, 'evil'],
] as const)('allowEditedArgs of %s', (_, open, other) => {
  test.each([[true], [['echo']]])('sends what the approver edited when it is %j', async (allowEditedArgs) => {
    await using api = await open(allowEditedArgs)
    await using runner = start(api.toolset)
    const request = await ask(runner)
    expect(request.editable).toBe(true)
    const args = { text: 'approver' }
    const preview = await runner.previewApproval({ ...who, requestId: request.id, args })
    expect(preview.hint).toMatch(/^Approve /)
    const { events } = await runner.complete({ ...who, message: [approve(request, { args })] })
    expect(api.sent()).toEqual([args])
    expect(responsesOf(events)[0]?.response.editedArgs).toEqual(args)
  })

  test.each([
    ['the wrong type', { text: 5 }],
    ['a field that the tool does not know', { text: 'a', txt: 'b' }],
  ])('refuses edited arguments with %s, and the request stays open', async (_, args) => {
    await using api = await open(true)
    await using runner = start(api.toolset)
    const request = await ask(runner)
    const answered = runner.complete({ ...who, message: [approve(request, { args })] })
    await expect(answered).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    expect([api.sent(), (await runner.pending(who)).length]).toEqual([[], 1])
  })

  test.each([[false], [[other]]])('refuses edited arguments when it is %j', async (allowEditedArgs) => {
    await using api = await open(allowEditedArgs)
    await using runner = start(api.toolset)
    const request = await ask(runner)
    expect(request.editable).toBeUndefined()
    const answered = runner.complete({ ...who, message: [approve(request, { args: { text: 'approver' } })] })
    await expect(answered).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    expect(api.sent()).toEqual([])
  })
})
