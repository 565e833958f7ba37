// One request, from the connection to the last chunk.
import type { GenerateContentParameters, GoogleGenAI } from '@google/genai'
import { unlessAborted } from '../../policy/wait.ts'
import type { Settings } from '../settings.ts'
import { type ObservedResponse, observedFetch } from './observed-fetch.ts'

/** A request in the client's words. */
export interface RequestParams {
  readonly model: string
  readonly contents: readonly object[]
  readonly config: { readonly [option: string]: unknown }
}

/** The chunks of the answer; the only one where nothing is streamed. Leaving early closes the connection. */
export async function* sendRequest(
  client: GoogleGenAI,
  params: RequestParams,
  settings: Settings,
  options: { readonly isStream: boolean; readonly signal: AbortSignal | undefined; readonly seen: ObservedResponse },
): AsyncGenerator<unknown, void, void> {
  const { signal, isStream, seen } = options
  signal?.throwIfAborted()
  const leave = new AbortController()
  const follow = (): void => leave.abort(signal?.reason)
  signal?.addEventListener('abort', follow, { once: true })
  try {
    const asked = withTransport(params, settings, readClientFetch(client, settings), leave.signal, seen)
    if (!isStream) {
      yield await unlessAborted(client.models.generateContent(asked), leave.signal)
      return
    }
    const stream = await unlessAborted(client.models.generateContentStream(asked), leave.signal)
    for (;;) {
      leave.signal.throwIfAborted() // stopped while the last chunk was looked at
      const next = await unlessAborted(stream.next(), leave.signal)
      if (next.done) return
      yield next.value
    }
  } finally {
    signal?.removeEventListener('abort', follow)
    leave.abort() // the client lets go of a stream without closing it
  }
}

function withTransport(
  params: RequestParams,
  { timeoutMs }: Settings,
  inner: typeof fetch | undefined,
  abortSignal: AbortSignal,
  seen: ObservedResponse,
): GenerateContentParameters {
  const given = typeof params.config.httpOptions === 'object' ? params.config.httpOptions : {}
  const httpOptions = {
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
    ...given,
    fetch: observedFetch(inner, seen),
    retryOptions: { attempts: 1 }, // ours is the only retry
  }
  const automaticFunctionCalling = { disable: true } // the dispatcher's work
  const config = { ...params.config, automaticFunctionCalling, abortSignal, httpOptions }
  return { ...params, config } as unknown as GenerateContentParameters // the API checks what is in it
}

// A client of the user's may have a fetch of its own, which what is set for one request would hide.
function readClientFetch(client: GoogleGenAI, { fetch }: Settings): typeof globalThis.fetch | undefined {
  if (fetch) return fetch
  const { apiClient } = client as unknown as { apiClient?: { getFetch?(): typeof globalThis.fetch | undefined } }
  return apiClient?.getFetch?.()
}
