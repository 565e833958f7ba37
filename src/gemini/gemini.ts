import type { GoogleGenAI } from '@google/genai'
import { sleep } from '../policy/wait.ts'
import type { LlmResponse, Model } from '../tool/model.ts'
import { attempt } from './transport/attempt.ts'
import { capabilitiesOf } from './capabilities.ts'
import { clientOf } from './transport/client.ts'
import { GeminiError } from './gemini-error.ts'
import { type Failure, failureOf } from './failure/failure.ts'
import { hiddenCause, hide } from './failure/hide-secrets.ts'
import { messageFor } from './failure/failure-message.ts'
import type { GeminiOptions } from './options.ts'
import { toWire, type Wire } from './request/request.ts'
import { Answer } from './reply/reply.ts'
import { askedWait, isModelFault, isRetryable, pauseBefore } from './failure/retry-delay.ts'
import { type Settings, settingsOf } from './settings.ts'
import type { Seen } from './transport/observed-fetch.ts'

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
  const settings = settingsOf(name, options)
  const client = clientOf(settings)
  return {
    name,
    capabilities: options.capabilities ?? capabilitiesOf(name, settings.isVertex),
    async *generate(request, { signal, stream = false }) {
      const wire = toWire(request, name, settings.isVertex)
      yield* ask(await client(), wire, settings, stream, signal)
    },
  }
}

/** Asks, again where that is worth it, and gives deltas and the whole. */
async function* ask(
  client: GoogleGenAI,
  wire: Wire,
  settings: Settings,
  isStream: boolean,
  signal: AbortSignal | undefined,
): AsyncGenerator<LlmResponse, void, void> {
  let hasBegun = false
  let modelFaults = 0
  for (let attempts = 1; ; attempts++) {
    const seen: Seen = {}
    const answer = new Answer()
    try {
      for await (const chunk of attempt(client, wire.params, settings, { isStream, signal, seen })) {
        const parts = answer.add(chunk).filter((part) => part.text !== '') // a signature alone shows nothing
        if (!isStream || parts.length === 0) continue
        hasBegun = true
        yield { content: { role: 'model', parts }, partial: true }
      }
      yield answer.finish(isStream)
      return
    } catch (thrown) {
      signal?.throwIfAborted()
      const failure = failureOf(thrown, seen)
      if (isModelFault(failure)) modelFaults++
      // what was said cannot be unsaid: after the first delta nothing is asked again
      const pause = hasBegun || modelFaults > 1 ? undefined : pauseBefore(attempts + 1, failure, settings)
      if (pause === undefined) throw errorOf(failure, wire, settings, { attempts, hasBegun })
      await sleep(pause, signal ?? never, settings.ports)
    }
  }
}

const never = new AbortController().signal

function errorOf(
  failure: Failure,
  { asked }: Wire,
  settings: Settings,
  end: { attempts: number; hasBegun: boolean },
): Error {
  const { status, reason, thrown } = failure
  const { secrets, ports } = settings
  const waitMs = askedWait(failure, ports.now())
  const message = hide(messageFor(failure, asked, { ...end, waitMs }), secrets)
  const cause = hiddenCause(thrown, secrets)
  return new GeminiError(message, { status, reason, isRetryable: isRetryable(failure), cause })
}
