import type { Hono } from 'hono'
import { ToolwrightError } from '../../../../core/error/error.ts'
import type { Tool } from '../../../../engine/tool/tool.ts'
import { runCrashTest } from '../../bench/crash-test.ts'
import type { ToolBench } from '../../bench/tool-bench.ts'
import type { ServerEnv, ServerParts } from '../../env.ts'
import { actingUser, checkAnyUser } from '../../principal/authentication.ts'
import { Fields } from '../../wire/fields.ts'
import { readBody } from '../../wire/read-body.ts'
import { appOf } from '../scope.ts'
import { checkApprovals } from './check-approvals.ts'

/** Plays crashes around a tool of the tool bench, and says whether what it declares is true. */
export function crashTestRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.post('/dev/apps/:app/agents/:agent/tools/:tool/crash-test', async (context) => {
    checkAnyUser(context, 'use the tool bench')
    checkApprovals(parts, 'The test', 'Use chaos() in a test of your own.')
    const body = await readBody(context)
    const userId = actingUser(context, body.text('userId'))
    const outside = new Fields(body.object('outside'), 'outside')
    const bench = appOf(context, parts).bench as ToolBench // `/dev` has one
    const { agent, tool: name } = context.req.param()
    bench.checkUnguarded(agent)
    const tools = await bench.tools(agent, userId)
    const tool = findTool(tools, agent, name)
    const reader = findTool(tools, agent, outside.text('tool'))
    const readerArgs = outside.optionalObject('args') ?? {}
    const test = { tool, args: body.optionalObject('args') ?? {}, reader, readerArgs }
    return context.json(await runCrashTest(test, context.req.raw.signal))
  })
}

function findTool(tools: readonly Tool[], agent: string, name: string): Tool {
  const found = tools.find((tool) => tool.name === name)
  if (found) return found
  throw new ToolwrightError('NOT_FOUND', `Agent "${agent}" has no tool "${name}".`)
}
