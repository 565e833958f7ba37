import type { Hono } from 'hono'
import { saveCase } from '../../../../adapters/eval/cases/write-eval-set.ts'
import { recordCase } from '../../../../adapters/eval/recording/record-case.ts'
import type { EvalMode } from '../../../../adapters/eval/run/run-case.ts'
import type { RequestContext, ServerEnv, ServerParts } from '../../env.ts'
import type { EvalFolders } from '../../evals/eval-folders.ts'
import { checkSet } from '../../evals/eval-sets.ts'
import { evaluate } from '../../evals/evaluation.ts'
import { readSet } from '../../evals/read-set.ts'
import { readRecordedSession } from '../../evals/recorded-session.ts'
import { runQuota } from '../../guard/quotas.ts'
import { eventStream } from '../../stream/event-stream.ts'
import { type Fields, invalid } from '../../wire/fields.ts'
import { readBody } from '../../wire/read-body.ts'
import { appOf } from '../scope.ts'
import { checkApprovals } from './check-approvals.ts'

const SET = '/dev/apps/:app/eval-sets/:set'
const MODES: readonly EvalMode[] = ['replay', 'recorded-tools', 'live']
/** More runs are for the command line: the page keeps the results of all. */
const MAX_REPEAT = 100
const MAX_RUNS = 20_000
/** A session is replayed once when it is recorded. */
const RECORD_MS = 120_000

/** Routes of the workbench: what `toolwright eval` and `toolwright eval record` do. */
export function evaluationRoutes(app: Hono<ServerEnv>, parts: ServerParts, folders: EvalFolders): void {
  app.post(`${SET}/evaluate`, runQuota(parts), (context) => streamEvaluation(context, parts, folders))
  app.post(`${SET}/record`, runQuota(parts), async (context) =>
    context.json({ file: await record(context, parts, folders) }),
  )
}

async function streamEvaluation(context: RequestContext, parts: ServerParts, folders: EvalFolders): Promise<Response> {
  const folder = await folders.of(context)
  const body = await readBody(context)
  const how = { mode: readMode(body), repeat: readRepeat(body) }
  if (how.mode !== 'replay') checkApprovals(parts, 'A case', 'Run the set with `toolwright eval`.')
  const set = await readSet(folder, context.req.param('set') ?? '')
  if (set.cases.length * how.repeat > MAX_RUNS)
    throw invalid(`These are more than ${MAX_RUNS} runs. Lower repeat, or use \`toolwright eval\`.`)
  const left = new AbortController()
  const stop = (): void => left.abort(new Error('The client closed the request.'))
  const signal = AbortSignal.any([left.signal, parts.closing])
  const frames = evaluate({ set, runner: appOf(context, parts).runner, ...how, signal })
  return await eventStream(context, parts, { frames, onDisconnect: stop, onStall: stop })
}

/** Adds a session to a set as a case that can be replayed. Returns the name of the file, which is made if there is none. */
async function record(context: RequestContext, parts: ServerParts, folders: EvalFolders): Promise<string> {
  const folder = await folders.of(context)
  const setId = context.req.param('set') ?? ''
  const name = folder.file(setId) // a wrong name is said before the session is replayed
  const body = await readBody(context)
  const id = body.text('evalId')
  if (id.trim() === '') throw invalid('evalId must not be empty.')
  const replace = body.flag('replace')
  const session = await readRecordedSession(context, parts, body)
  const signal = AbortSignal.any([context.req.raw.signal, parts.closing, AbortSignal.timeout(RECORD_MS)])
  const made = await recordCase(session, { target: appOf(context, parts).runner, id, signal })
  await folder.save(setId, (text) => checkSet(saveCase(made, { text, name, setId, replace }), name))
  return name
}

function readMode(body: Fields): EvalMode {
  const given = body.optionalText('mode') ?? 'replay'
  const mode = MODES.find((one) => one === given)
  if (mode) return mode
  throw invalid(`mode must be ${MODES.join(', ')}.`)
}

function readRepeat(body: Fields): number {
  const repeat = body.value('repeat') ?? 1
  if (typeof repeat === 'number' && Number.isInteger(repeat) && repeat >= 1 && repeat <= MAX_REPEAT) return repeat
  throw invalid(`repeat must be a whole number from 1 to ${MAX_REPEAT}.`)
}
