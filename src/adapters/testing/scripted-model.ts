import type { JsonObject } from '../../core/base/json.ts'
import { kindOf } from '../../core/base/kind-of.ts'
import type { Content, Part } from '../../core/content/content.ts'
import { anything, checkOptions, list, type OptionRules, record, text } from '../../core/error/check-options.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { LlmRequest } from '../../engine/model/llm-request.ts'
import type { LlmResponse, Model } from '../../engine/model/model.ts'

/** The next reply of the model: a text, a reply, or a function that returns either for a request. */
export type ScriptedStep = string | ScriptedReply | ((request: LlmRequest) => ScriptedStep | Promise<ScriptedStep>)

/** One function for all requests. */
type StepFunction = (request: LlmRequest) => ScriptedStep | Promise<ScriptedStep>

/** A reply of a scripted model. */
export interface ScriptedReply {
  /** Text of the reply. */
  readonly text?: string | undefined
  /** Function calls of the reply. */
  readonly calls?:
    | readonly { readonly name: string; readonly args?: JsonObject | undefined; readonly id?: string | undefined }[]
    | undefined
  /** Other parts, before text and calls. */
  readonly parts?: readonly Part[] | undefined
  /** The text in pieces. A streaming run receives them as partial responses. */
  readonly deltas?: readonly string[] | undefined
  /** Thrown in place of a reply, after the deltas. */
  readonly error?: Error | string | undefined
  /** Delay before the reply in milliseconds. Default: none. */
  readonly delayMs?: number | undefined
  /** Other members of the response, e.g. `usageMetadata`, `finishReason`, `errorCode`. */
  readonly response?: Omit<LlmResponse, 'content' | 'partial'> | undefined
}

const REPLY_RULES: OptionRules<ScriptedReply> = {
  text,
  calls: list,
  parts: list,
  deltas: list,
  error: anything,
  delayMs: anything,
  response: record,
}
const CALL_RULES = { name: text, args: anything, id: text }
const RULES = { name: text, capabilities: record }

interface ScriptedModelOptions {
  readonly name?: string | undefined
  readonly capabilities?: Model['capabilities'] | undefined
}

/** A model that replies from a script. */
export interface ScriptedModel extends Model {
  /** Snapshots of all requests so far. */
  readonly requests: readonly LlmRequest[]
  /** Throws when the script has unused steps. A function has none. */
  assertComplete(): void
}

/**
 * Creates a model that replies from a script: a list of steps, or one function for all requests. A request after the last step
 * throws.
 *
 * @example
 * const model = scriptedModel([{ calls: [{ name: 'get_weather', args: { city: 'Oslo' } }] }, 'Cold.'])
 */
export function scriptedModel(script: StepFunction, options?: ScriptedModelOptions): ScriptedModel
export function scriptedModel(steps: readonly ScriptedStep[], options?: ScriptedModelOptions): ScriptedModel
export function scriptedModel(
  script: readonly ScriptedStep[] | StepFunction,
  options: ScriptedModelOptions = {},
): ScriptedModel {
  checkScript(script)
  checkOptions('scriptedModel()', options, RULES)
  const requests: LlmRequest[] = []
  let usedSteps = 0
  return {
    name: options.name ?? 'scripted',
    ...(options.capabilities && { capabilities: options.capabilities }),
    requests,
    assertComplete() {
      if (typeof script === 'function') return
      const unused = script.length - usedSteps
      if (unused > 0) throw new Error(`scriptedModel() has ${unused} unused steps of ${script.length}.`)
    },
    async *generate(request, { signal, stream }) {
      requests.push(snapshot(request))
      const step = typeof script === 'function' ? script : script[usedSteps++]
      if (step === undefined)
        throw new Error(
          `scriptedModel() has no step for request ${requests.length}: the script has ${script.length} steps. Add a step, or pass one function for all requests.`,
        )
      const reply = await resolve(step, request)
      if (reply.delayMs !== undefined) await wait(reply.delayMs, signal)
      if (stream) {
        for (const text of reply.deltas ?? []) yield { content: { role: 'model', parts: [{ text }] }, partial: true }
      }
      if (reply.error !== undefined) throw typeof reply.error === 'string' ? new Error(reply.error) : reply.error
      yield { content: contentOf(reply), ...reply.response }
    },
  }
}

async function resolve(step: ScriptedStep, request: LlmRequest): Promise<ScriptedReply> {
  const given = typeof step === 'function' ? await step(request) : step
  if (typeof given === 'function') return resolve(given, request)
  if (typeof step === 'function') checkStep(given)
  return typeof given === 'string' ? { text: given } : given
}

function checkScript(script: unknown): void {
  if (Array.isArray(script)) script.forEach(checkStep)
  else if (typeof script !== 'function') {
    const problem = `scriptedModel() takes a list of steps or a function of the request, got ${kindOf(script)}`
    throw new ToolwrightError('INVALID_CONFIG', `${problem}. Write scriptedModel(['Hello.']).`)
  }
}

function checkStep(step: ScriptedStep): void {
  if (typeof step === 'string' || typeof step === 'function') return
  checkOptions('A step of scriptedModel()', step, REPLY_RULES)
  for (const call of step.calls ?? []) checkOptions('A call in a step of scriptedModel()', call, CALL_RULES)
}

function contentOf({ text, calls = [], parts = [], deltas }: ScriptedReply): Content {
  const fullText = text ?? deltas?.join('')
  return {
    role: 'model',
    parts: [
      ...parts,
      ...(fullText === undefined ? [] : [{ text: fullText }]),
      ...calls.map(({ name, args = {}, id }) => ({ functionCall: { ...(id !== undefined && { id }), name, args } })),
    ],
  }
}

/** Copies a request, so that later changes do not affect the recorded one. */
function snapshot(request: LlmRequest): LlmRequest {
  const { tools, appendInstruction, appendConfigTool } = request
  return {
    ...(request.model !== undefined && { model: request.model }),
    contents: [...request.contents],
    config: { ...request.config },
    tools,
    appendInstruction,
    appendConfigTool,
  }
}

function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}
