import type { GoogleGenAI } from '@google/genai'
import type { LlmResponse, Model } from '../../engine/model/model.ts'
import { sleep } from '../../engine/policy/wait.ts'
import { capabilitiesOf } from './capabilities.ts'
import { type Failure, readFailure } from './failure/failure.ts'
import { failureMessage } from './failure/failure-message.ts'
import { copyWithoutSecrets, hideKnownSecrets } from './failure/hide-secrets.ts'
import { isModelFault, isRetryable, requestedDelayMs, retryDelayMs } from './failure/retry-delay.ts'
import { GeminiError } from './gemini-error.ts'
import type { GeminiOptions } from './options.ts'
import { ReplyBuilder } from './reply/reply-builder.ts'
import { buildRequest, type GeminiRequest } from './request/build-request.ts'
import { readSettings, type Settings } from './settings.ts'
import { lazyClient } from './transport/client.ts'
import type { ObservedResponse } from './transport/observed-fetch.ts'
import { sendRequest } from './transport/send-request.ts'

/**
 * A Gemini model, through the Gemini API or Vertex AI. Needs the package `@google/genai`, and an API key or project in the
 * options or in environment variables.
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
    provider: settings.isVertex ? 'gcp.vertex_ai' : 'gcp.gemini',
    capabilities: options.capabilities ?? capabilitiesOf(name, settings.isVertex),
    async *generate(request, { signal, stream = false }) {
      const geminiRequest = buildRequest(request, name, settings.isVertex)
      yield* generateWithRetry(await client(), geminiRequest, settings, { isStream: stream, signal })
    },
  }
}

/** Yields the deltas of a reply and then the complete response. Retries until the first delta. */
async function* generateWithRetry(
  client: GoogleGenAI,
  request: GeminiRequest,
  settings: Settings,
  { isStream, signal }: { isStream: boolean; signal: AbortSignal | undefined },
): AsyncGenerator<LlmResponse, void, void> {
  let hasOutput = false
  let modelFaults = 0
  for (let attempts = 1; ; attempts++) {
    const observed: ObservedResponse = {}
    const reply = new ReplyBuilder()
    try {
      const { params } = request
      for await (const chunk of sendRequest(client, settings, { params, isStream, signal, observed })) {
        const parts = reply.add(chunk).filter((part) => part.text !== '') // no delta for a part with only a signature
        if (!isStream || parts.length === 0) continue
        hasOutput = true
        yield { content: { role: 'model', parts }, partial: true }
      }
      yield reply.finish(isStream)
      return
    } catch (thrown) {
      signal?.throwIfAborted()
      const failure = readFailure(thrown, observed)
      if (isModelFault(failure)) modelFaults++
      // after the first delta a retry would repeat output
      const delayMs = hasOutput || modelFaults > 1 ? undefined : retryDelayMs(attempts + 1, failure, settings)
      if (delayMs === undefined) throw toGeminiError(failure, request, settings, { attempts, hasOutput })
      await sleep(delayMs, signal ?? NEVER_ABORTED, settings.ports)
    }
  }
}

const NEVER_ABORTED = new AbortController().signal

function toGeminiError(
  failure: Failure,
  { summary }: GeminiRequest,
  settings: Settings,
  end: { attempts: number; hasOutput: boolean },
): Error {
  const { status, reason, thrown } = failure
  const { secrets, ports } = settings
  const waitMs = requestedDelayMs(failure, ports.now())
  const message = hideKnownSecrets(failureMessage(failure, summary, { ...end, waitMs }), secrets)
  const cause = copyWithoutSecrets(thrown, secrets)
  return new GeminiError(message, { status, reason, isRetryable: isRetryable(failure), cause })
}
