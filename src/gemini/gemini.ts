import type { GoogleGenAI } from '@google/genai'
import { sleep } from '../policy/wait.ts'
import type { LlmResponse, Model } from '../tool/model.ts'
import { sendRequest } from './transport/attempt.ts'
import { capabilitiesOf } from './capabilities.ts'
import { lazyClient } from './transport/client.ts'
import { GeminiError } from './gemini-error.ts'
import { type Failure, readFailure } from './failure/failure.ts'
import { copyWithoutSecrets, hideKnownSecrets } from './failure/hide-secrets.ts'
import { failureMessage } from './failure/failure-message.ts'
import type { GeminiOptions } from './options.ts'
import { buildRequest, type GeminiRequest } from './request/request.ts'
import { ReplyBuilder } from './reply/reply.ts'
import { requestedDelayMs, isModelFault, isRetryable, retryDelayMs } from './failure/retry-delay.ts'
import { type Settings, readSettings } from './settings.ts'
import type { ObservedResponse } from './transport/observed-fetch.ts'

/**
 * A Gemini model, over the Gemini API or Vertex AI. Needs `@google/genai`, and a key in the environment or the options.
 *
 * @example
 * new LlmAgent({ name: 'assistant', model: gemini('gemini-2.5-flash') })
 *
 * @example
 * new Runner({ appName: 'app', agent, models: { 'gemini-*': gemini } })
 */
export function gemini(name: string, options: GeminiOptions = {}): Model {
  const settings = readSettings(name, options)
  const client = lazyClient(settings)
  return {
    name,
    capabilities: options.capabilities ?? capabilitiesOf(name, settings.isVertex),
    async *generate(request, { signal, stream = false }) {
      const wire = buildRequest(request, name, settings.isVertex)
      yield* generateWithRetry(await client(), wire, settings, stream, signal)
    },
  }
}

/** Asks, again where that is worth it, and gives deltas and the whole. */
async function* generateWithRetry(
  client: GoogleGenAI,
  wire: GeminiRequest,
  settings: Settings,
  isStream: boolean,
  signal: AbortSignal | undefined,
): AsyncGenerator<LlmResponse, void, void> {
  let hasBegun = false
  let modelFaults = 0
  for (let attempts = 1; ; attempts++) {
    const seen: ObservedResponse = {}
    const answer = new ReplyBuilder()
    try {
      for await (const chunk of sendRequest(client, wire.params, settings, { isStream, signal, seen })) {
        const parts = answer.add(chunk).filter((part) => part.text !== '') // a signature alone shows nothing
        if (!isStream || parts.length === 0) continue
        hasBegun = true
        yield { content: { role: 'model', parts }, partial: true }
      }
      yield answer.finish(isStream)
      return
    } catch (thrown) {
      signal?.throwIfAborted()
      const failure = readFailure(thrown, seen)
      if (isModelFault(failure)) modelFaults++
      // what was said cannot be unsaid: after the first delta nothing is asked again
      const pause = hasBegun || modelFaults > 1 ? undefined : retryDelayMs(attempts + 1, failure, settings)
      if (pause === undefined) throw toGeminiError(failure, wire, settings, { attempts, hasBegun })
      await sleep(pause, signal ?? never, settings.ports)
    }
  }
}

const never = new AbortController().signal

function toGeminiError(
  failure: Failure,
  { summary }: GeminiRequest,
  settings: Settings,
  end: { attempts: number; hasBegun: boolean },
): Error {
  const { status, reason, thrown } = failure
  const { secrets, ports } = settings
  const waitMs = requestedDelayMs(failure, ports.now())
  const message = hideKnownSecrets(failureMessage(failure, summary, { ...end, waitMs }), secrets)
  const cause = copyWithoutSecrets(thrown, secrets)
  return new GeminiError(message, { status, reason, isRetryable: isRetryable(failure), cause })
}
