// Shared by scenarios of pending requests and answers: one store, and as many processes over it as a test needs.
import {
  type Agent,
  type Completion,
  type Content,
  type Event,
  type JsonObject,
  LlmAgent,
  type LlmAgentOptions,
  type Part,
  type PendingRequest,
  Runner,
  type RunnerOptions,
  type SessionService,
  type Tool,
  type TypedTool,
  tool,
} from 'toolwright'
import {
  anthropicHistoryProblems,
  geminiHistoryProblems,
  openAiHistoryProblems,
  type ScriptedModel,
  type ScriptedStep,
  scriptedModel,
  strictModel,
} from 'toolwright/testing'
import { type Mock, vi } from 'vitest'
import { z } from 'zod'
import { stores as allStores } from '../stores.ts'
import { silentLogger } from './kit.ts'

/** Every store the scenarios run on. */
export const stores: [string, () => SessionService][] = allStores.map(({ name, open }) => [
  name,
  () => open().sessionService,
])

export const where = { userId: 'ada', sessionId: 's1' }

export interface Process {
  readonly runner: Runner
  readonly model: ScriptedModel
}

/** A process of its own: new agents and a new runner over the same store. Its model rejects a history that a provider would reject. */
export function startProcess(
  store: SessionService,
  story: {
    tools?: LlmAgentOptions['tools']
    steps?: readonly ScriptedStep[]
    agent?: Partial<LlmAgentOptions>
    runner?: Partial<RunnerOptions>
  },
): Process {
  const model = scriptedModel(story.steps ?? [])
  const agent = new LlmAgent({ name: 'agent', model: strictModel(model), tools: story.tools, ...story.agent })
  return { model, runner: runnerOf(store, agent, story.runner) }
}

export function runnerOf(store: SessionService, agent: Agent, more: Partial<RunnerOptions> = {}): Runner {
  return new Runner({ appName: 'app', agent, sessionService: store, logger: silentLogger, ...more })
}

export interface Refund {
  readonly refund: TypedTool<{ amount: number }, unknown>
  readonly run: Mock<(args: { amount: number }) => unknown>
}

/** A tool that refunds money, and the mock of its body. */
export function refundTool(more: Partial<Tool> = {}): Refund {
  const run = vi.fn((args: { amount: number }): unknown => ({ refunded: args.amount }))
  const refund = tool({
    name: 'refund',
    description: 'Refund money',
    parameters: z.object({ amount: z.number() }),
    requiresConfirmation: true,
    run: (args) => run(args),
  })
  return { refund: { ...refund, ...more } as Refund['refund'], run }
}

/** A reply that calls `refund` with these amounts: calls c1, c2, ... */
export function refundReply(...amounts: number[]): ScriptedStep {
  return { calls: amounts.map((amount, at) => ({ id: `c${at + 1}`, name: 'refund', args: { amount } })) }
}

/** Sends a message as user ada. */
export async function sendMessage(runner: Runner, message: string | Part[] = 'go'): Promise<Completion> {
  return await runner.complete({ ...where, message })
}

/** The pending request for a call, or the only pending request. */
export function requestFor(pending: readonly PendingRequest[], callId?: string): PendingRequest {
  const found = pending.filter(({ functionCallId }) => callId === undefined || functionCallId === callId)
  if (found.length !== 1) throw new Error(`${found.length} requests about ${callId}`)
  return found[0] as PendingRequest
}

/** An answer as a client writes it. */
export function answerPart(id: string, response: unknown, name = 'adk_request_confirmation'): Part {
  return { functionResponse: { id, name, response: response as JsonObject } }
}

export async function storedEvents(store: SessionService): Promise<readonly Event[]> {
  return (await store.getSession({ appName: 'app', ...where }))?.events ?? []
}

/** The final responses in a list of events, by call id. */
export function finalResponses(events: readonly Event[]): { [id: string]: JsonObject } {
  const found: { [id: string]: JsonObject } = {}
  for (const { content, author } of events) {
    if (author === 'user') continue
    for (const { functionResponse: one } of content?.parts ?? []) {
      if (one && !one.willContinue) found[one.id ?? ''] = one.response
    }
  }
  return found
}

/** The problems of a history: content that a provider rejects, and content meant for the approver only. */
export function historyProblems(contents: readonly Content[]): string[] {
  const found = [
    ...geminiHistoryProblems(contents),
    ...openAiHistoryProblems(contents),
    ...anthropicHistoryProblems(contents),
  ]
  for (const [at, { role, parts }] of contents.entries()) {
    if (role === 'user' && parts.some(({ functionResponse }) => functionResponse)) found.push(`an answer at ${at}`)
    if (JSON.stringify(parts).includes('adk_request_')) found.push(`a question at ${at}`)
  }
  return found
}
