import type { Hono } from 'hono'
import { ToolwrightError } from '../../../../core/error/error.ts'
import { readLog } from '../../../../core/event/views/log-reader.ts'
import type { CallView } from '../../../../core/event/views/views.ts'
import { argsToRepeat, decisionsOf } from '../../bench/saved-decisions.ts'
import { type SavedCall, testFileName, writeTest } from '../../bench/write-test.ts'
import type { RequestContext, ServerEnv, ServerParts } from '../../env.ts'
import { invalid } from '../../wire/fields.ts'
import { SESSION, sessionScope } from '../scope.ts'

/** Writes a call of a session as a test file. */
export function savedTestRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  app.get(`/dev${SESSION}/calls/:call/test`, async (context) => {
    const { key, app: served } = sessionScope(context, parts)
    const log = await served.runner.sessionService.readLog?.(key)
    const id = context.req.param('call')
    const call = readLog(log?.entries ?? [])
      .calls()
      .find((one) => one.id === id)
    const response = call?.response?.modelOutput?.response ?? call?.response?.response
    if (!call || !response) throw new ToolwrightError('NOT_FOUND', `The session has no call "${id}" with a response.`)
    const file = context.req.query('file') ?? './agent.ts'
    const saved = { ...repeated(call), response, file, runner: runnerOf(context) }
    return context.json({ name: testFileName(saved.tool, file), code: writeTest(saved) })
  })
}

function repeated(call: CallView): Pick<SavedCall, 'agent' | 'tool' | 'args' | 'decisions'> {
  return { agent: call.agent, tool: call.name, args: argsToRepeat(call), decisions: decisionsOf(call) }
}

function runnerOf(context: RequestContext): SavedCall['runner'] {
  const runner = context.req.query('runner') ?? 'node:test'
  if (runner === 'node:test' || runner === 'vitest') return runner
  throw invalid('The query parameter "runner" must be "node:test" or "vitest".')
}
