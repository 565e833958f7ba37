import type { WebSocket } from 'ws'
import { isRecord, type JsonObject } from '../../../../core/base/json.ts'
import type { OpenAiRealtimeConnection } from '../../openai-realtime-connection.ts'
import { TypedInbox } from '../../typed-inbox.ts'
import { Conversation } from './conversation.ts'
import { isTurnSetting } from './default-session.ts'
import { type OutputContext, writeAudio, writeCall, writeText } from './write-output.ts'

/** What a connection needs of its server. */
export interface ConnectionOptions {
  /** Headers of the handshake. */
  readonly headers: { readonly [name: string]: string }
  /** Query parameters of the handshake. */
  readonly query: { readonly [name: string]: string }
  /** Is the first update answered? */
  readonly acceptsSetup: boolean
  /** Records a problem of the client. */
  report(problem: string): void
}

/** Serves one connection. */
export function serveConnection(socket: WebSocket, options: ConnectionOptions): OpenAiRealtimeConnection {
  const { headers, query, acceptsSetup, report } = options
  const inbox = new TypedInbox<JsonObject>()
  let sentEvents = 0
  const sendFrame = (frame: string | Uint8Array): void => {
    if (socket.readyState === socket.OPEN) socket.send(frame)
  }
  const emit = (event: JsonObject): void => sendFrame(JSON.stringify({ event_id: `event_${++sentEvents}`, ...event }))
  const conversation = new Conversation({ model: query.model ?? '', acceptsSetup, emit, report })
  const context: OutputContext = { conversation, emit }
  const closed = new Promise<number>((resolve) => {
    socket.on('close', (code: number) => {
      inbox.close()
      resolve(code)
    })
  })
  socket.on('error', () => undefined) // the close event follows
  socket.on('message', (data) => {
    const event = parse(String(data))
    if (!event) return report('A frame is not a JSON object')
    conversation.handle(event)
    inbox.add(event)
  })
  // after the caller has seen the connection
  queueMicrotask(() => emit({ type: 'session.created', session: conversation.session }))
  return {
    headers,
    query,
    closed,
    received: inbox.all,
    items: conversation.items,
    get session() {
      return conversation.session
    },
    next: (type) => inbox.next(type),
    send: (event) => (isRecord(event) && !(event instanceof Uint8Array) ? emit(event) : sendFrame(event)),
    say: (...deltas) => writeText(deltas, context),
    speak: (audio, ...transcript) => writeAudio(audio, transcript, context),
    call(name, { args = {}, id = conversation.newId('call'), status = 'completed' } = {}) {
      writeCall({ name, args: typeof args === 'string' ? args : JSON.stringify(args), id, status }, context)
      return id
    },
    finish: (how = {}) => conversation.responses.finish(how),
    hear: (...transcript) => hear(transcript, context),
    startSpeech: () => startSpeech(context),
    stopSpeech: () => stopSpeech(context),
    fail: (error) => emit({ type: 'error', error: { type: 'server_error', code: null, event_id: null, ...error } }),
    close: (code = 1000, reason = '') => socket.close(code, reason),
    drop: () => socket.terminate(),
  }
}

function hear(deltas: readonly string[], { conversation, emit }: OutputContext): void {
  const place = { item_id: conversation.newId('item'), content_index: 0 }
  const type = 'conversation.item.input_audio_transcription'
  for (const delta of deltas) emit({ type: `${type}.delta`, ...place, delta })
  const usage = { type: 'duration', seconds: 1 }
  emit({ type: `${type}.completed`, ...place, transcript: deltas.join(''), usage })
}

function startSpeech({ conversation, emit }: OutputContext): void {
  emit({ type: 'input_audio_buffer.speech_started', audio_start_ms: 0, item_id: conversation.newId('item') })
  if (conversation.responses.active && isTurnSetting(conversation.session, 'interrupt_response'))
    conversation.responses.finish({ status: 'cancelled', reason: 'turn_detected' })
}

function stopSpeech({ conversation, emit }: OutputContext): void {
  emit({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: 1_000, item_id: conversation.newId('item') })
  conversation.commit()
  if (isTurnSetting(conversation.session, 'create_response')) conversation.responses.create({}, false)
}

function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}
