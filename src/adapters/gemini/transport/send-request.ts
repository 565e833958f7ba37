import type { GenerateContentParameters, GoogleGenAI } from '@google/genai'
import { unlessAborted } from '../../../engine/policy/wait.ts'
import type { Settings } from '../settings.ts'
import { type ObservedResponse, observedFetch } from './observed-fetch.ts'

/** The parameters of a request of the client. */
export interface RequestParams {
  /** Name of the model. */
  readonly model: string
  /** The conversation. */
  readonly contents: readonly object[]
  /** Instruction, tools and generation settings. */
  readonly config: { readonly [option: string]: unknown }
}

/** One request. */
interface Attempt {
  /** What to send. */
  readonly params: RequestParams
  /** Whether to stream the reply. */
  readonly isStream: boolean
  /** Aborts the request. */
  readonly signal: AbortSignal | undefined
  /** Receives the status and headers of the HTTP response. */
  readonly observed: ObservedResponse
}

/**
 * Sends one request and yields the chunks of its reply: one chunk when it is not streamed. Closes the connection when the
 * consumer stops iterating.
 */
export async function* sendRequest(
  client: GoogleGenAI,
  settings: Settings,
  { params, isStream, signal, observed }: Attempt,
): AsyncGenerator<unknown, void, void> {
  signal?.throwIfAborted()
  const connection = new AbortController()
  const onAbort = (): void => connection.abort(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    const fetch = observedFetch(readClientFetch(client, settings), observed)
    const request = withTransport(params, settings, fetch, connection.signal)
    if (!isStream) {
      yield await unlessAborted(client.models.generateContent(request), connection.signal)
      return
    }
    const stream = await unlessAborted(client.models.generateContentStream(request), connection.signal)
    for (;;) {
      connection.signal.throwIfAborted() // the consumer may have aborted while it had the last chunk
      const next = await unlessAborted(stream.next(), connection.signal)
      if (next.done) return
      yield next.value
    }
  } finally {
    signal?.removeEventListener('abort', onAbort)
    connection.abort() // the client does not close a stream that is not read to its end
  }
}

function withTransport(
  params: RequestParams,
  { timeoutMs }: Settings,
  fetch: typeof globalThis.fetch,
  abortSignal: AbortSignal,
): GenerateContentParameters {
  const given = typeof params.config.httpOptions === 'object' ? params.config.httpOptions : {}
  const httpOptions = {
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
    ...given,
    fetch,
    retryOptions: { attempts: 1 }, // gemini() retries itself
  }
  const automaticFunctionCalling = { disable: true } // the dispatcher runs tools
  const config = { ...params.config, automaticFunctionCalling, abortSignal, httpOptions }
  return { ...params, config } as unknown as GenerateContentParameters // the API validates the parameters
}

// A client passed by the caller can have its own fetch, which the fetch of a request would override.
function readClientFetch(client: GoogleGenAI, { fetch }: Settings): typeof globalThis.fetch | undefined {
  if (fetch) return fetch
  const { apiClient } = client as unknown as { apiClient?: { getFetch?(): typeof globalThis.fetch | undefined } }
  return apiClient?.getFetch?.()
}
