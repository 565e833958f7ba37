import type { GoogleGenAI, LiveCallbacks } from '@google/genai'
import { isRecord } from '../../../core/base/json.ts'
import { LiveConnectionError, type LiveConnectOptions } from '../../../engine/model/live-model.ts'
import { isGemini3 } from '../capabilities.ts'
import { connectConfig } from './connect-config.ts'
import { abortedError, closedError, thrownError, timeoutError } from './connection-failure.ts'
import { type ConnectionContext, GeminiLiveConnection } from './live-connection.ts'
import type { LiveSettings } from './live-settings.ts'

type Fail = (error: LiveConnectionError) => void

/**
 * Connects through the client. Resolves when the service has accepted the setup. The client itself waits forever for a
 * service that does not answer, refuses the setup or cannot be reached.
 */
export async function openConnection(
  client: GoogleGenAI,
  settings: LiveSettings,
  options: LiveConnectOptions,
): Promise<GeminiLiveConnection> {
  const { name, isVertex, secrets, ports } = settings
  const { config, runsCode } = connectConfig(settings, options)
  const isResumed = options.resumeHandle !== undefined
  const context = { name, isVertex, secrets, ports, isResumed, runsCode, isGemini3: isGemini3(name) }
  if (options.signal.aborted) throw abortedError(options.signal.reason, context)
  const connection = new GeminiLiveConnection(context)
  const { promise: failure, reject: fail } = Promise.withResolvers<never>()
  const endLimits = limitAttempt(settings, options.signal, context, fail)
  const callbacks = callbacksOf(connection, context, fail)
  const opening = connection.socket.watch(client.live).connect({ model: name, config, callbacks })
  try {
    connection.open(await Promise.race([opening, failure]))
    return connection
  } catch (thrown) {
    connection.socket.destroy()
    opening.then(
      (late) => late.close(),
      () => {}, // the first failure is reported
    )
    throw thrown instanceof LiveConnectionError ? thrown : thrownError(thrown, context)
  } finally {
    endLimits()
  }
}

/** Fails the attempt when the signal aborts or the time is over. Returns a function that ends both. */
function limitAttempt(
  { ports, connectTimeoutMs }: LiveSettings,
  signal: AbortSignal,
  context: ConnectionContext,
  fail: Fail,
): () => void {
  const onAbort = (): void => fail(abortedError(signal.reason, context))
  signal.addEventListener('abort', onAbort, { once: true })
  const cancelTimer = ports.setTimer(() => fail(timeoutError(connectTimeoutMs, context)), connectTimeoutMs)
  return () => {
    cancelTimer()
    signal.removeEventListener('abort', onAbort)
  }
}

function callbacksOf(connection: GeminiLiveConnection, context: ConnectionContext, fail: Fail): LiveCallbacks {
  let error: unknown
  return {
    onmessage: (message) => {
      if (!connection.socket.isWatched) connection.receive(isRecord(message) ? message : undefined)
    },
    onerror: (event) => {
      error = event.error ?? event.message
    },
    onclose: ({ code, reason }) => {
      const closed = closedError({ code, reason, error }, context, connection.socket.isReady)
      fail(closed)
      connection.lose(closed)
    },
  }
}
