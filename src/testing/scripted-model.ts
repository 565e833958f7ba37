import type { JsonObject } from '../base/json.ts'
import type { Content, Part } from '../content/content.ts'
import { anything, checkOptions, list, type OptionRules, record, text } from '../error/check-options.ts'
import type { LlmResponse, Model } from '../tool/model.ts'
import type { LlmRequest } from '../tool/tool.ts'

/** What the model says next: a text, a reply, or a function of the request that gives either. */
export type Step = string | ScriptedReply | ((request: LlmRequest) => Step | Promise<Step>)

export interface ScriptedReply {
  readonly text?: string | undefined
  readonly calls?:
    | readonly { readonly name: string; readonly args?: JsonObject | undefined; readonly id?: string | undefined }[]
    | undefined
  /** Anything else a model can say, before text and calls. */
  readonly parts?: readonly Part[] | undefined
  /** The text in pieces: partial responses when the run streams. */
  readonly deltas?: readonly string[] | undefined
  /** Thrown instead of an answer; after the deltas when there are some. */
  readonly error?: Error | string | undefined
  readonly delayMs?: number | undefined
  /** Whatever else a response can hold: usageMetadata, finishReason, errorCode, ... */
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

export interface ScriptedModel extends Model {
  /** Every request so far, as it was when it was made. */
  readonly requests: readonly LlmRequest[]
  /** Throws when steps are left over. */
  assertComplete(): void
}

/**
 * A model that says what the script says. A call past the end of the script is an error.
 *
 * @example
 * const model = scriptedModel([{ calls: [{ name: 'get_weather', args: { city: 'Oslo' } }] }, 'Cold.'])
 */
export function scriptedModel(
  steps: readonly Step[],
  options: { name?: string | undefined; capabilities?: Model['capabilities'] | undefined } = {},
): ScriptedModel {
  checkOptions('scriptedModel()', options, RULES)
  steps.forEach(checkStep)
  const requests: LlmRequest[] = []
  let said = 0
  return {
    name: options.name ?? 'scripted',
    ...(options.capabilities && { capabilities: options.capabilities }),
    requests,
    assertComplete() {
      if (said < steps.length) throw new Error(`The script has ${steps.length - said} steps left of ${steps.length}.`)
    },
    async *generate(request, { signal, stream }) {
      requests.push(snapshot(request))
      if (said >= steps.length) throw new Error(`The script is over: it has ${steps.length} steps, this is one more.`)
      const reply = await resolve(steps[said++] as Step, request)
      if (reply.delayMs !== undefined) await wait(reply.delayMs, signal)
      if (stream) {
        for (const text of reply.deltas ?? []) yield { content: { role: 'model', parts: [{ text }] }, partial: true }
      }
      if (reply.error !== undefined) throw typeof reply.error === 'string' ? new Error(reply.error) : reply.error
      yield { content: contentOf(reply), ...reply.response }
    },
  }
}

async function resolve(step: Step, request: LlmRequest): Promise<ScriptedReply> {
  const given = typeof step === 'function' ? await step(request) : step
  if (typeof given === 'function') return resolve(given, request)
  if (typeof step === 'function') checkStep(given)
  return typeof given === 'string' ? { text: given } : given
}

function checkStep(step: Step): void {
  if (typeof step === 'string' || typeof step === 'function') return
  checkOptions('A step of scriptedModel()', step, REPLY_RULES)
  for (const call of step.calls ?? []) checkOptions('A call in a step of scriptedModel()', call, CALL_RULES)
}

function contentOf({ text, calls = [], parts = [], deltas }: ScriptedReply): Content {
  const said = text ?? deltas?.join('')
  return {
    role: 'model',
    parts: [
      ...parts,
      ...(said === undefined ? [] : [{ text: said }]),
      ...calls.map(({ name, args = {}, id }) => ({ functionCall: { ...(id !== undefined && { id }), name, args } })),
    ],
  }
}

/** Later changes to the request do not change what was seen. */
function snapshot(request: LlmRequest): LlmRequest {
  const { tools, appendInstruction, appendWireTool } = request
  return {
    ...(request.model !== undefined && { model: request.model }),
    contents: [...request.contents],
    config: { ...request.config },
    tools,
    appendInstruction,
    appendWireTool,
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
