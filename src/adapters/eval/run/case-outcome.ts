// What has happened in a conversation, read from its log and its stores.
import type { JsonObject } from '../../../core/base/json.ts'
import type { Part } from '../../../core/content/content.ts'
import type { NewEntry } from '../../../core/event/event.ts'
import { readLog } from '../../../core/event/views/log-reader.ts'
import type { Runner } from '../../../engine/runner/runner.ts'
import type { EvalCase } from '../cases/eval-set.ts'
import type { CaseOutcome } from '../checks/check.ts'
import { replyOf } from '../recording/reply-of.ts'
import type { SpokenTurn } from './conversation.ts'

/** A conversation that has ended. */
export interface Finished {
  /** The case. */
  readonly one: EvalCase
  /** Its runner. */
  readonly runner: Runner
  /** The user. */
  readonly userId: string
  /** The session. */
  readonly sessionId: string
  /** Undefined for a replay: its turns are those of the log. */
  readonly turns: readonly SpokenTurn[] | undefined
  /** When it began, on the clock of `performance`. */
  readonly since: number
  /** Aborts when the time of the case is over. */
  readonly signal: AbortSignal
}

/** What has happened, for the checks. */
export async function outcomeOf({
  one,
  runner,
  userId,
  sessionId,
  turns,
  since,
  signal,
}: Finished): Promise<CaseOutcome> {
  const timeMs = performance.now() - since
  const key = { appName: runner.appName, userId, sessionId }
  const entries: readonly NewEntry[] = (await runner.sessionService.readLog?.(key))?.entries ?? []
  const log = readLog(entries)
  const invocations = log.invocations()
  const spoken = turns?.map(({ invocationId, ...turn }) => ({ ...turn, invocation: log.invocation(invocationId) }))
  const all = spoken ?? invocations.filter(({ message }) => message?.content).map(turnOfLog)
  const session = await runner.sessionService.getSession(key)
  return {
    id: one.id,
    rubrics: one.rubrics ?? [],
    turns: all,
    reply: all.at(-1)?.reply ?? '',
    invocations,
    calls: log.calls().filter(({ kind }) => kind !== 'toolset'),
    state: { ...session?.state } satisfies JsonObject,
    artifacts: await artifactsOf(runner, key),
    tokens: sumTokens(invocations.map(({ tokens }) => tokens)),
    timeMs,
    signal,
  }
}

function turnOfLog(invocation: CaseOutcome['invocations'][number]): CaseOutcome['turns'][number] {
  const { marks, startedAt, updatedAt } = invocation
  const user = marks.find((mark) => mark.type === 'message')?.text ?? ''
  const error = marks.find((mark) => mark.type === 'error')
  return {
    user,
    reply: replyOf(invocation) ?? '',
    invocation,
    error: error && { code: error.code, message: error.message },
    timeMs: (updatedAt - startedAt) * 1000,
  }
}

async function artifactsOf(
  { artifactService }: Runner,
  key: { readonly appName: string; readonly userId: string; readonly sessionId: string },
): Promise<Map<string, Part | undefined>> {
  const artifacts = new Map<string, Part | undefined>()
  for (const filename of (await artifactService?.listArtifactKeys(key)) ?? [])
    artifacts.set(filename, await artifactService?.loadArtifact({ ...key, filename }))
  return artifacts
}

function sumTokens(counts: readonly { readonly input: number; readonly output: number }[]): CaseOutcome['tokens'] {
  return counts.reduce((sum, { input, output }) => ({ input: sum.input + input, output: sum.output + output }), {
    input: 0,
    output: 0,
  })
}
