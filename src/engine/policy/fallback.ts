import { isRecord } from '../../core/base/json.ts'
import { kindOf } from '../../core/base/kind-of.ts'
import { clip } from '../../core/base/limits.ts'
import type { Ports } from '../../core/base/ports.ts'
import { withSystemPorts } from '../../core/base/ports.ts'
import { callback, checkOptions, name, type OptionRules } from '../../core/error/check-options.ts'
import { messageOf, ToolwrightError } from '../../core/error/error.ts'
import { hideSecrets } from '../../core/error/hide-secrets.ts'
import { PORT_RULES } from '../../core/error/port-rules.ts'
import type { FailedModel } from '../../core/event/model-fallback.ts'
import type { LlmRequest } from '../model/llm-request.ts'
import { isModel, type LlmResponse, type Model } from '../model/model.ts'
import { DURATION, DURATION_OR_ZERO } from './check-policy.ts'
import { generateWithTimeout, NoResponseError } from './generate-with-timeout.ts'

/** Options of `fallback()`. */
export interface FallbackOptions {
  /** Name of the chain in errors. Default: `fallback(first, second)`, with the names of the models. */
  readonly name?: string | undefined
  /** Whether to try the next model after an error. Only `true` does. Default: `error.isRetryable`. */
  readonly when?: ((error: unknown) => boolean | Promise<boolean>) | undefined
  /** Time limit until the first delta, or until the whole reply without streaming, in milliseconds. Default: no limit. */
  readonly timeoutMs?: number | undefined
  /**
   * How long a failed model moves to the end of the list, for all runs that use this chain, in milliseconds. Default 0.
   */
  readonly cooldownMs?: number | undefined
}

const RULES: OptionRules<FallbackOptions> = {
  name,
  when: callback,
  timeoutMs: DURATION,
  cooldownMs: DURATION_OR_ZERO,
}

/** Several models failed for one request. The message names every model. `cause` is the last error. */
export class FallbackError extends Error {
  /** Always `FallbackError`. */
  override readonly name: string = 'FallbackError'
  /** The failed models, in the order they were tried. */
  readonly models: readonly FailedModel[]
  /** `isRetryable` of the last error. */
  readonly isRetryable: boolean
  constructor(models: readonly FailedModel[], cause: unknown) {
    const list = models.map((one) => `"${one.model}": ${one.message}`).join(' | ')
    super(`All ${models.length} models failed. ${list}`, { cause })
    this.models = models
    this.isRetryable = isRetryable(cause)
  }
}

/**
 * A model that tries the next model of a list when one fails before its first output. After a switch, `event.fallback` names
 * the model that replied and why the others failed. A cancelled run never tries another model.
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
  const { setTimer, monotonicNow } = withSystemPorts(ports)
  const chain = models.map((model): ModelState => ({ model, coolsUntil: 0, lastFailure: undefined }))
  return {
    name: options.name ?? `fallback(${models.map((model) => model.name).join(', ')})`,
    capabilities: sharedCapabilities(models),
    async *generate(request, { signal, stream }) {
      const failures: FailedModel[] = []
      const now = monotonicNow()
      const cooling = chain.filter((state) => state.coolsUntil > now)
      const order = [...chain.filter((state) => !cooling.includes(state)), ...cooling]
      for (const state of order) {
        const { model } = state
        const limits = { signal, stream, timeoutMs, setTimer }
        let hasOutput = false
        try {
          for await (const response of generateWithTimeout(model, requestFor(request, model), limits)) {
            const isWhole = isRecord(response) && !response.partial
            if (!isWhole && !stream) continue // deltas of a model that ignores `stream: false`
            hasOutput = true
            state.coolsUntil = 0
            yield isWhole
              ? withFallback(response, model, [...skippedModels(chain, state, order), ...failures])
              : response
          }
          if (hasOutput) return
          throw new NoResponseError(
            'NO_RESPONSE',
            `Model "${model.name}" ended its reply without a response. Its generate() must yield at least one response that is not partial.`,
          )
        } catch (error) {
          signal?.throwIfAborted()
          state.lastFailure = toFailedModel(model, error)
          failures.push(state.lastFailure)
          const isSwitching = !hasOutput && (await shouldSwitch(when, error))
          if (isSwitching) state.coolsUntil = monotonicNow() + cooldownMs
          if (isSwitching && state !== order.at(-1)) continue
          throw failures.length > 1 ? new FallbackError(failures, error) : error
        }
      }
    },
  }
}

interface ModelState {
  readonly model: Model
  /** End of the cooldown, by the monotonic clock. */
  coolsUntil: number
  lastFailure: FailedModel | undefined
}

async function shouldSwitch(when: NonNullable<FallbackOptions['when']>, error: unknown): Promise<boolean> {
  try {
    return (await when(error)) === true
  } catch (thrown) {
    const message = `The option "when" of fallback() threw: ${messageOf(thrown)}. The error of the model was: ${messageOf(error)}`
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
  const advice = "Pass model objects, for example gemini('gemini-2.5-flash'). Names are not resolved here."
  throw new ToolwrightError('INVALID_CONFIG', `fallback() takes a list of models, ${problem}. ${advice}`)
}

/** The capabilities that all models share. A request is built before it is known which model replies. */
function sharedCapabilities(models: readonly Model[]): NonNullable<Model['capabilities']> {
  const all = models.map(({ capabilities = {} }) => capabilities)
  const combinable = sharedGroups(all)
  return {
    toolsWithOutputSchema: all.every((one) => one.toolsWithOutputSchema === true),
    serverTools: (all[0]?.serverTools ?? []).filter((tool) => all.every((one) => one.serverTools?.includes(tool))),
    serverToolsWithFunctions: all.every((one) => one.serverToolsWithFunctions === true),
    ...(combinable.length > 0 && { combinableServerTools: combinable }),
  }
}

/** The groups of server tools that every model combines. A model that combines them with functions combines any group. */
function sharedGroups(all: readonly NonNullable<Model['capabilities']>[]): readonly (readonly string[])[] {
  const groups = all.flatMap(({ combinableServerTools = [] }) => combinableServerTools)
  const isShared = (group: readonly string[]): boolean =>
    all.every(
      ({ serverToolsWithFunctions, combinableServerTools = [] }) =>
        serverToolsWithFunctions === true ||
        combinableServerTools.some((other) => group.every((name) => other.includes(name))),
    )
  return groups.filter(
    (group, at) => isShared(group) && groups.findIndex((other) => other.join() === group.join()) === at,
  )
}

/** The request with the name of the model instead of the name of the chain. */
function requestFor(request: LlmRequest, { name: model }: Model): LlmRequest {
  return {
    ...request,
    model,
    appendInstruction: (text) => request.appendInstruction(text),
    appendConfigTool: (entry) => request.appendConfigTool(entry),
  }
}

/**
 * The last failures of models that come before this one in the chain but are tried after it, because of their cooldown.
 */
function skippedModels(chain: readonly ModelState[], state: ModelState, order: readonly ModelState[]): FailedModel[] {
  return chain
    .slice(0, chain.indexOf(state))
    .filter((one) => order.indexOf(one) > order.indexOf(state))
    .flatMap(({ lastFailure }) => lastFailure ?? [])
}

function withFallback(response: LlmResponse, { name: model }: Model, from: readonly FailedModel[]): LlmResponse {
  const { fallback: inner, modelVersion = model } = response // a chain inside this chain
  if (from.length === 0) return { ...response, modelVersion }
  return { ...response, modelVersion, fallback: inner ? { ...inner, from: [...from, ...inner.from] } : { model, from } }
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

/** Reads a member. A getter that throws must not hide the error it belongs to. */
function readMember(error: unknown, member: string): unknown {
  try {
    return typeof error === 'object' && error !== null ? (error as { [member: string]: unknown })[member] : undefined
  } catch {
    return undefined
  }
}
