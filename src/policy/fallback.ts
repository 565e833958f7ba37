import { isRecord } from '../base/json.ts'
import { kindOf } from '../base/kind-of.ts'
import { clip } from '../base/limits.ts'
import { type Ports, portsWith } from '../base/ports.ts'
import { callback, checkOptions, name, type OptionRules } from '../error/check-options.ts'
import { messageOf, ToolwrightError } from '../error/error.ts'
import { PORT_RULES } from '../error/port-rules.ts'
import { hideSecrets } from '../error/secrets.ts'
import type { FailedModel } from '../event/event.ts'
import { isModel, type LlmResponse, type Model } from '../tool/model.ts'
import type { LlmRequest } from '../tool/tool.ts'
import { generateWithTimeout, NoResponseError } from './generate-with-timeout.ts'
import { isDuration } from './wrap.ts'

/** When the next model is asked, and for how long one that failed is left alone. */
export interface FallbackOptions {
  /** What errors call the chain. Default: `fallback(first, second)`. */
  readonly name?: string | undefined
  /** Is this failure a reason to ask the next model? Only `true` says so. Default: `error.isRetryable`. */
  readonly when?: ((error: unknown) => boolean | Promise<boolean>) | undefined
  /** How long a model may take until its first delta, or until the whole reply when nothing is streamed. Default: no limit. */
  readonly timeoutMs?: number | undefined
  /** How long a model that failed is asked only after the others, in all runs of this chain. Default 0. */
  readonly cooldownMs?: number | undefined
}

const RULES: OptionRules<FallbackOptions> = {
  name,
  when: callback,
  timeoutMs: { expects: 'a positive number of milliseconds', accepts: isDuration },
  cooldownMs: { expects: 'milliseconds, or 0', accepts: (value) => value === 0 || isDuration(value) },
}

/** Several models failed for one request. `cause` is the last error; the message names every model. */
export class FallbackError extends Error {
  override readonly name: string = 'FallbackError'
  /** In the order they were asked. */
  readonly models: readonly FailedModel[]
  /** That of the last error. */
  readonly isRetryable: boolean
  constructor(models: readonly FailedModel[], cause: unknown) {
    const list = models.map((one) => `"${one.model}": ${one.message}`).join(' | ')
    super(`All ${models.length} models that were asked failed. ${list}`, { cause })
    this.models = models
    this.isRetryable = isRetryable(cause)
  }
}

/**
 * A model that asks the next of several when one fails before anything of its reply was shown. A cancelled run never
 * asks another one. After a switch the event says which model replied and why the others did not: `event.fallback`.
 *
 * @example
 * new LlmAgent({ name: 'assistant', model: fallback([gemini('gemini-2.5-flash'), fromAiSdk(openai('gpt-5'))]) })
 */
export function fallback(
  models: readonly Model[],
  options: FallbackOptions = {},
  ports: Partial<Pick<Ports, 'setTimer' | 'monotonicNow'>> = {},
): Model {
  checkModels(models)
  checkOptions('fallback()', options, RULES)
  checkOptions('fallback(), ports', ports, PORT_RULES)
  const { when = isRetryable, timeoutMs, cooldownMs = 0 } = options
  const { setTimer, monotonicNow } = portsWith(ports)
  const chain = models.map((model): ModelState => ({ model, coolUntil: 0, lastFailure: undefined }))
  return {
    name: options.name ?? `fallback(${models.map((model) => model.name).join(', ')})`,
    capabilities: sharedCapabilities(models),
    async *generate(request, { signal, stream }) {
      const failures: FailedModel[] = []
      const now = monotonicNow()
      const cooling = chain.filter((link) => link.coolUntil > now)
      const order = [...chain.filter((link) => !cooling.includes(link)), ...cooling]
      for (const link of order) {
        const { model } = link
        const asked = { signal, stream, timeoutMs, setTimer }
        let isShown = false
        try {
          for await (const response of generateWithTimeout(model, requestFor(request, model), asked)) {
            const isWhole = isRecord(response) && !response.partial
            if (!isWhole && !stream) continue // deltas that were not asked for are not shown
            isShown = true
            link.coolUntil = 0
            yield isWhole ? withFallback(response, model, [...skippedModels(chain, link, order), ...failures]) : response
          }
          if (isShown) return
          throw new NoResponseError('NO_RESPONSE', `Model "${model.name}" gave no response.`)
        } catch (error) {
          signal?.throwIfAborted()
          link.lastFailure = toFailedModel(model, error)
          failures.push(link.lastFailure)
          const isReason = !isShown && (await isReasonToSwitch(when, error))
          if (isReason) link.coolUntil = monotonicNow() + cooldownMs
          if (isReason && link !== order.at(-1)) continue
          throw failures.length > 1 ? new FallbackError(failures, error) : error
        }
      }
    },
  }
}

interface ModelState {
  readonly model: Model
  /** By the monotonic clock. */
  coolUntil: number
  lastFailure: FailedModel | undefined
}

async function isReasonToSwitch(when: NonNullable<FallbackOptions['when']>, error: unknown): Promise<boolean> {
  try {
    return (await when(error)) === true
  } catch (thrown) {
    const message = `The option "when" of fallback() threw: ${messageOf(thrown)}. It was asked about: ${messageOf(error)}`
    throw new Error(message, { cause: thrown })
  }
}

function checkModels(models: readonly Model[]): void {
  const problem = !Array.isArray(models)
    ? `got ${kindOf(models)}`
    : models.length === 0
      ? 'got an empty list'
      : models.map((one, at) => (isModel(one) ? '' : `got ${kindOf(one)} at index ${at}`)).find(Boolean)
  if (problem === undefined) return
  const cure = "Pass model objects, such as gemini('gemini-2.5-flash'); names are not looked up here."
  throw new ToolwrightError('INVALID_CONFIG', `fallback() takes a list of models, ${problem}. ${cure}`)
}

/** What every model of the chain can do: a request is built before it is known which of them replies. */
function sharedCapabilities(models: readonly Model[]): NonNullable<Model['capabilities']> {
  const all = models.map(({ capabilities = {} }) => capabilities)
  return {
    toolsWithOutputSchema: all.every((one) => one.toolsWithOutputSchema === true),
    serverTools: (all[0]?.serverTools ?? []).filter((tool) => all.every((one) => one.serverTools?.includes(tool))),
    serverToolsWithFunctions: all.every((one) => one.serverToolsWithFunctions === true),
  }
}

/** Each model gets its own name, not that of the chain. */
function requestFor(request: LlmRequest, { name: model }: Model): LlmRequest {
  return {
    ...request,
    model,
    appendInstruction: (text) => request.appendInstruction(text),
    appendWireTool: (entry) => request.appendWireTool(entry),
  }
}

/** The models before this one in the chain that are asked after it, because they failed a moment ago. */
function skippedModels(chain: readonly ModelState[], link: ModelState, order: readonly ModelState[]): FailedModel[] {
  return chain
    .slice(0, chain.indexOf(link))
    .filter((one) => order.indexOf(one) > order.indexOf(link))
    .flatMap(({ lastFailure }) => lastFailure ?? [])
}

function withFallback(response: LlmResponse, { name: model }: Model, from: readonly FailedModel[]): LlmResponse {
  if (from.length === 0) return response
  const { fallback: inner } = response // a chain within this chain
  return { ...response, fallback: inner ? { ...inner, from: [...from, ...inner.from] } : { model, from } }
}

function isRetryable(error: unknown): boolean {
  return readMember(error, 'isRetryable') === true
}

const MAX_FAILURE_LENGTH = 1_000

function toFailedModel({ name: model }: Model, error: unknown): FailedModel {
  const message = clip(hideSecrets(messageOf(error)), MAX_FAILURE_LENGTH)
  const code = ['reason', 'code', 'status'].map((member) => readMember(error, member)).find(isCode)
  return code === undefined ? { model, message } : { model, code: clip(String(code), 100), message }
}

const isCode = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number'

/** A getter that throws must not hide the error it sits on. */
function readMember(error: unknown, member: string): unknown {
  try {
    return typeof error === 'object' && error !== null ? (error as { [member: string]: unknown })[member] : undefined
  } catch {
    return undefined
  }
}
