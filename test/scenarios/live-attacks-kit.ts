// Helpers for scenarios that attack live sessions.
import { InMemorySessionService, LlmAgent, Runner, type RunnerOptions, type Tool, ToolwrightError } from 'toolwright'
import { connectLive, type LiveOptions, type LiveSession } from 'toolwright/live'
import {
  anthropicHistoryProblems,
  geminiHistoryProblems,
  openAiHistoryProblems,
  type ScriptedLive,
  type ScriptedLiveConnection,
  scriptedLive,
  scriptedModel,
} from 'toolwright/testing'
import { expect, onTestFinished } from 'vitest'
import { responsesOf, silentLogger } from './kit.ts'
import { storedEvents } from './live-calls-kit.ts'
import { collect, type LiveTest } from './live-kit.ts'

/** A live session without a network, and the side of its model. */
export interface AttackedSession extends Pick<LiveTest, 'events' | 'event'> {
  readonly session: LiveSession
  readonly runner: Runner
  readonly model: ScriptedLive
  readonly connection: ScriptedLiveConnection
}

/** Connects a session whose model says only what the test lets it say. */
export async function attack(
  tools: readonly Tool[],
  options: Partial<LiveOptions<LiveSession>> = {},
  runnerOptions: Partial<RunnerOptions> = {},
): Promise<AttackedSession> {
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel([]), tools })
  const runner = options.runner ?? new Runner({ appName: 'app', agent, logger: silentLogger, ...runnerOptions })
  onTestFinished(() => runner.close())
  const model = scriptedLive(() => undefined)
  const session = await connectLive({ runner, model, reconnect: { delayMs: 1, maxDelayMs: 2 }, ...options })
  onTestFinished(() => session.close())
  const connection = (options.model ?? model) === model ? await model.nextConnection() : (undefined as never)
  return { session, runner, model, connection, ...collect(session) }
}

/** Every call in the log has exactly one final response, and the history is one that every provider accepts. */
export async function expectWholeLog(runner: Runner, session: LiveSession): Promise<void> {
  const log = await storedEvents(runner, session)
  const calls = log.flatMap(({ content, author }) =>
    author === 'user' ? [] : (content?.parts.flatMap(({ functionCall }) => functionCall?.id ?? []) ?? []),
  )
  const requested = new Set(
    log.flatMap(({ content }) =>
      (content?.parts ?? []).flatMap(({ functionCall }) =>
        functionCall?.name.startsWith('adk_request') ? (functionCall.id ?? '') : [],
      ),
    ),
  )
  const answered = responsesOf(log)
    .filter(({ id = '', willContinue }) => !willContinue && !requested.has(id))
    .map(({ id = '' }) => id)
  expect(answered.sort()).toEqual(calls.filter((id) => !requested.has(id)).sort())
}

/** Continues the session with text, and checks the history that a model gets. */
export async function expectValidHistory(
  session: LiveSession,
  sessionService: Runner['sessionService'],
  tools: readonly Tool[],
): Promise<void> {
  const model = scriptedModel(['Goodbye.'])
  const agent = new LlmAgent({ name: 'desk', model, tools })
  const runner = new Runner({ appName: 'app', agent, logger: silentLogger, sessionService })
  const run = runner.run({ userId: session.userId, sessionId: session.sessionId, message: 'Bye.' })
  for await (const _ of run);
  const contents = model.requests[0]?.contents ?? []
  expect(contents.length).toBeGreaterThan(0)
  const problems = [geminiHistoryProblems, anthropicHistoryProblems, openAiHistoryProblems]
  for (const problemsOf of problems) expect(problemsOf(contents)).toEqual([])
  await runner.close()
}

/** A store that refuses appends while `isFailing` is true. */
export class BrokenStore extends InMemorySessionService {
  isFailing: (entries: Parameters<InMemorySessionService['append']>[2]) => boolean = () => false
  override append(...args: Parameters<InMemorySessionService['append']>): Promise<number> {
    if (this.isFailing(args[2])) return Promise.reject(new ToolwrightError('STORAGE', 'The disk is full.'))
    return super.append(...args)
  }
}

/** Unhandled rejections while the test runs. With Node's defaults, each of them would end the process. */
export function watchRejections(): unknown[] {
  const found: unknown[] = []
  const listener = (reason: unknown): void => void found.push(reason)
  const others = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', listener)
  onTestFinished(() => {
    process.off('unhandledRejection', listener)
    for (const other of others) process.on('unhandledRejection', other)
  })
  return found
}

/** Lets everything that is ready run. */
export async function ticks(count = 20): Promise<void> {
  for (let at = 0; at < count; at++) await new Promise((resolve) => setImmediate(resolve))
}
