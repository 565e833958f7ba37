// Questions of a server of the 2026-07-28 protocol. The server keeps no connection: its state comes with the question, is
// sealed in the request record, and goes back with the answers. Any process can continue the call.
import type { CreateMessageRequest } from '@modelcontextprotocol/client'
import { isRecord, type JsonObject, jsonSize, setOwn } from '../../../core/base/json.ts'
import { MAX_METADATA_BYTES } from '../../../core/base/limits.ts'
import { ToolError } from '../../../core/error/error.ts'
import type { AnsweredInput, ToolContext } from '../../../engine/context/context.ts'
import { MAX_QUESTIONS, MAX_ROUNDS } from '../limits.ts'
import { type Question, toElicitResult } from './elicitation.ts'
import type { ServerCallOptions } from './server-call.ts'

/** What one question holds besides the message and the schema. */
interface SealedRound {
  readonly protocol: '2026'
  /** The number of the round, from 1. */
  readonly round: number
  /** The key of the question in this round. */
  readonly key: string
  /** The parameters of the question. */
  readonly params: JsonObject
  /** The state of the server. */
  readonly requestState?: string
  /** Answers of this round that needed no human. */
  readonly answered: JsonObject
}

/** What a retried request adds to the parameters of the call. */
export interface RoundParams {
  /** The answers to the questions of the server, by their keys. */
  readonly inputResponses?: JsonObject
  /** The state of the server, as it sent it. */
  readonly requestState?: string
}

/** The answers of the latest round, for the next request. Empty in the first round. */
export function answeredRound(context: ToolContext): RoundParams {
  const answered = context.answeredInputs().filter((one): one is AnsweredInput & { sealed: SealedRound } => {
    return isSealedRound(one.sealed)
  })
  const round = Math.max(0, ...answered.map(({ sealed }) => sealed.round))
  const latest = answered.filter(({ sealed }) => sealed.round === round)
  const [first] = latest
  if (!first) return {}
  const responses = latest.map((one) => [one.sealed.key, toElicitResult(one, one.sealed.params)] as const)
  return roundParams({ ...first.sealed.answered, ...Object.fromEntries(responses) }, first.sealed.requestState)
}

function roundParams(inputResponses: JsonObject, requestState: string | undefined): RoundParams {
  return { inputResponses, ...(requestState !== undefined && { requestState }) }
}

/** Options of `requestRound`. */
interface RoundOptions {
  /** The name of the toolset. */
  readonly server: string
  /** The context of the call. */
  readonly context: ToolContext
  /** The question of an elicitation. Undefined if it cannot be asked. */
  question(params: unknown): Question | undefined
  /** Answers sampling requests. */
  readonly sample: ServerCallOptions['sample']
}

/** Requests the input of the user for a round. Without questions for a human, returns the parameters of the next request. */
export async function requestRound(
  { inputRequests, requestState }: JsonObject,
  { server, question: toQuestion, sample, context }: RoundOptions,
): Promise<{ type: 'waiting' } | { type: 'answered'; params: RoundParams }> {
  const earlier = context.answeredInputs().flatMap(({ sealed }) => (isSealedRound(sealed) ? [sealed.round] : []))
  const round = Math.max(0, ...earlier) + 1
  if (round > MAX_ROUNDS)
    throw new ToolError(`The MCP server "${server}" asked more than ${MAX_ROUNDS} times in one call.`)
  const state = typeof requestState === 'string' ? requestState : undefined
  const questions: { readonly key: string; readonly question: Question; readonly params: JsonObject }[] = []
  const answered: JsonObject = {}
  for (const [key, request] of Object.entries(isRecord(inputRequests) ? inputRequests : {})) {
    const { method, params } = isRecord(request) ? request : {}
    const question = method === 'elicitation/create' ? toQuestion(params) : undefined
    if (question) questions.push({ key, question, params: params as JsonObject })
    else setOwn(answered, key, await answerAtOnce(method, params, sample, context.signal))
  }
  if (questions.length > MAX_QUESTIONS)
    throw new ToolError(
      `The MCP server "${server}" asked ${questions.length} questions at once, at most ${MAX_QUESTIONS}.`,
    )
  for (const [at, { key, question, params }] of questions.entries()) {
    const sealed: SealedRound = {
      protocol: '2026',
      round,
      key,
      params,
      answered,
      ...(state !== undefined && { requestState: state }),
    }
    if (jsonSize({ sealed, question }, MAX_METADATA_BYTES) > MAX_METADATA_BYTES)
      throw new ToolError(`The MCP server "${server}" sent more state with its question than can be stored.`)
    context.requestInput({ key: `round-${round}-${at + 1}`, ...question, sealed, mayDecline: true })
  }
  if (questions.length) return { type: 'waiting' }
  return { type: 'answered', params: roundParams(answered, state) }
}

/** The answer to a request that no human sees: sampling, or a question that cannot be asked. */
async function answerAtOnce(
  method: unknown,
  params: unknown,
  sample: ServerCallOptions['sample'],
  signal: AbortSignal,
): Promise<unknown> {
  if (method === 'elicitation/create') return { action: 'decline' }
  if (method === 'sampling/createMessage') return await sample(params as CreateMessageRequest['params'], signal)
  throw new ToolError(
    `The MCP server asked for ${JSON.stringify(String(method).slice(0, 64))}, which this client does not offer.`,
  )
}

function isSealedRound(sealed: unknown): sealed is SealedRound {
  return isRecord(sealed) && sealed.protocol === '2026' && typeof sealed.round === 'number' && isRecord(sealed.params)
}
