import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { messageOf } from '../../../core/error/error.ts'
import { type LiveConnection, LiveConnectionError, type LiveConnectOptions } from '../../../engine/model/live-model.ts'
import { RealtimeConnection } from './connection.ts'
import { failedHandshake, lostConnection, refusedSetup } from './connection-error.ts'
import type { OpenAiWebSocket } from './options.ts'
import { readRefusalStatus } from './refusal-status.ts'
import { toFirstUpdate } from './session-update.ts'
import type { Settings } from './settings.ts'
import { ToolNames } from './tool-names.ts'

/** Connects to OpenAI Realtime. Resolves when the provider has accepted the session. */
export async function connect(settings: Settings, options: LiveConnectOptions): Promise<LiveConnection> {
  const { name, ports, connectTimeoutMs } = settings
  const { signal } = options
  if (signal.aborted) throw aborted(name, signal)
  const names = new ToolNames()
  const update = firstUpdate(settings, options, names)
  const attempt = new AbortController()
  const socket = openSocket(settings)
  const connection = new RealtimeConnection(socket, settings, names)
  const failure = Promise.withResolvers<never>()
  const cancelTimer = ports.setTimer(() => failure.reject(timedOut(settings)), connectTimeoutMs)
  const onAbort = (): void => failure.reject(aborted(name, signal))
  signal.addEventListener('abort', onAbort)
  try {
    await Promise.race([setUp(socket, connection, { settings, update, signal: attempt.signal }), failure.promise])
    return connection
  } catch (error) {
    connection.close()
    throw error
  } finally {
    attempt.abort()
    cancelTimer()
    signal.removeEventListener('abort', onAbort)
  }
}

function firstUpdate({ config }: Settings, options: LiveConnectOptions, names: ToolNames): JsonObject {
  try {
    return toFirstUpdate(options, config, names)
  } catch (cause) {
    throw new LiveConnectionError(messageOf(cause), { recover: 'nothing', cause })
  }
}

function openSocket({ name, webSocket, url, headers }: Settings): OpenAiWebSocket {
  try {
    const socket = new webSocket(url, { headers })
    if ('binaryType' in socket) socket.binaryType = 'arraybuffer'
    return socket
  } catch (cause) {
    throw new LiveConnectionError(
      `The WebSocket of model "${name}" could not be created: ${messageOf(cause)}. The WebSocket must accept { headers }; pass { webSocket } in runtimes whose own does not.`,
      { recover: 'nothing', cause },
    )
  }
}

/** Sends the first update when the socket is open. Settles when the provider has accepted or refused it. */
function setUp(
  socket: OpenAiWebSocket,
  connection: RealtimeConnection,
  { settings, update, signal }: { settings: Settings; update: JsonObject; signal: AbortSignal },
): Promise<void> {
  const { name } = settings
  return new Promise((resolve, reject) => {
    let isOpen = false
    let failure: unknown
    socket.addEventListener('open', () => {
      isOpen = true
      socket.send(JSON.stringify(update))
    })
    socket.addEventListener('message', (frame) => {
      const event = readFrame(frame)
      if (!event) return
      connection.receive(event)
      if (event.type === 'session.updated') resolve()
      else if (event.type === 'error') reject(refusedSetup(name, event)) // no effect once the session is ready
    })
    socket.addEventListener('error', (event) => {
      failure = event
    })
    socket.addEventListener('close', (event) => {
      connection.lose(event)
      if (isOpen) reject(lostConnection(name, event, undefined))
      else void describeFailure(settings, failure, signal).then(reject)
    })
  })
}

async function describeFailure(
  settings: Settings,
  failure: unknown,
  signal: AbortSignal,
): Promise<LiveConnectionError> {
  const status = await readRefusalStatus(settings, failure, signal)
  return failedHandshake(settings.name, status, (failure as { error?: unknown } | undefined)?.error)
}

/** The event of a frame, which may be text or bytes. Undefined if it is not a JSON object. */
function readFrame(frame: unknown): JsonObject | undefined {
  const { data } = frame as { data?: unknown }
  try {
    const isBytes = data instanceof ArrayBuffer || ArrayBuffer.isView(data)
    const event: unknown = JSON.parse(isBytes ? new TextDecoder().decode(data) : String(data))
    return isRecord(event) ? event : undefined
  } catch {
    return undefined
  }
}

function aborted(name: string, signal: AbortSignal): LiveConnectionError {
  return new LiveConnectionError(`The attempt to connect to model "${name}" was aborted.`, {
    recover: 'fresh',
    cause: signal.reason,
  })
}

function timedOut({ name, connectTimeoutMs }: Settings): LiveConnectionError {
  return new LiveConnectionError(
    `Model "${name}" did not accept the session within ${connectTimeoutMs} ms. Raise connectTimeoutMs or check the network.`,
    { recover: 'fresh' },
  )
}
