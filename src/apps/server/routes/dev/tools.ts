import type { Hono } from 'hono'
import { describeTool } from '../../bench/describe-tool.ts'
import type { ToolBench } from '../../bench/tool-bench.ts'
import type { RequestContext, ServerEnv, ServerParts } from '../../env.ts'
import { actingUser, checkAnyUser } from '../../principal/authentication.ts'
import { readBody } from '../../wire/read-body.ts'
import { appOf } from '../scope.ts'
import { streamRun } from '../stream-run.ts'
import { crashTestRoutes } from './crash-test.ts'
import { savedTestRoutes } from './saved-test.ts'

const TOOLS = '/dev/apps/:app/agents/:agent/tools'
/** What the role is for: a call of the bench skips the model, whose instructions may be what keeps users from a tool. */
const BENCH = 'use the tool bench'

/** Routes of the tool bench: the tools of an agent, single calls through the real gates, and tests. */
export function toolRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  crashTestRoutes(app, parts)
  savedTestRoutes(app, parts)
  const benchOf = (context: RequestContext): ToolBench => appOf(context, parts).bench as ToolBench // `/dev` has one

  app.get(TOOLS, async (context) => {
    checkAnyUser(context, BENCH)
    const userId = actingUser(context, context.req.query('userId') ?? context.get('principal').userId)
    const tools = await benchOf(context).tools(context.req.param('agent'), userId)
    const described = tools.map((tool) => ({ ...describeTool(tool), toolset: benchOf(context).toolsetOf(tool) }))
    return context.json(described)
  })

  app.post(`${TOOLS}/:tool/call`, async (context) => {
    checkAnyUser(context, BENCH)
    const body = await readBody(context)
    const userId = actingUser(context, body.text('userId'))
    const { agent, tool } = context.req.param()
    const call = { userId, agent, tool, args: body.optionalObject('args') ?? {} }
    const run = await benchOf(context).start(call)
    const response = await streamRun(context, parts, run, 'cancel') // to close the request is the only way to stop the call
    response.headers.set('x-session-id', run.sessionId)
    return response
  })
}
