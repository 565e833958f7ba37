import type { WebSocket } from 'ws'
import { isRecord } from '../../../../core/base/json.ts'
import { messageOf } from '../../../../core/error/error.ts'
import type { GeminiLiveServerOptions } from '../../gemini-live-script.ts'
import { ConnectionQueue } from './connection-queue.ts'
import { Conversation } from './conversation.ts'
import { type Handshake, LiveServerConnection } from './live-connection.ts'
import { messageProblems } from './message-rules.ts'
import { readFrame } from './read-frame.ts'

/** The clients of a server and their conversations. */
export class LiveClients {
  /** All connections so far, in order. */
  readonly connections: LiveServerConnection[] = []
  /** All conversations so far, in order. */
  readonly conversations: Conversation[] = []
  /** What the clients sent that a strict server refuses. */
  readonly problems: string[] = []
  /** The connections that no test has asked for yet. */
  readonly queue: ConnectionQueue = new ConnectionQueue()
  /** Sends a new handle after the setup and after each turn. */
  readonly sendHandles: boolean
  readonly #handles = new Map<string, Conversation>()
  readonly #options: GeminiLiveServerOptions

  constructor(options: GeminiLiveServerOptions) {
    this.#options = options
    this.sendHandles = options.sendHandles ?? true
  }

  /** Adds a client. */
  add(socket: WebSocket, handshake: Handshake): void {
    const conversation = new Conversation(`conversation-${this.connections.length + 1}`)
    const connection = new LiveServerConnection(socket, handshake, conversation, this)
    this.connections.push(connection)
    socket.on('message', (data) => this.#readMessage(connection, data, handshake))
    socket.on('error', () => {}) // a client that breaks the protocol is disconnected; `close` follows
    socket.on('close', (code, reason) => connection.messages.end(`code ${code} ${reason}`))
  }

  /** Creates a handle that resumes the conversation. */
  issueHandle(conversation: Conversation): string {
    const handle = conversation.newHandle()
    this.#handles.set(handle, conversation)
    return handle
  }

  #readMessage(connection: LiveServerConnection, data: unknown, { keys }: Handshake): void {
    const frame = readFrame(data)
    if (!frame) {
      this.problems.push('A client sent a frame that is no JSON object.')
      return
    }
    const { message, audioBytes } = frame
    const { isVertex, conversation } = connection
    const isFirst = connection.received.length === 0
    this.problems.push(...messageProblems(message, { isVertex, conversation, isFirst }))
    conversation.addMessage(message, audioBytes)
    const setup = connection.setup === undefined && isRecord(message.setup) ? message.setup : undefined
    connection.setup ??= setup
    connection.messages.add(message)
    if (setup) this.#acceptSetup(connection, keys)
    else void this.#notify('onMessage', () => this.#options.onMessage?.(message, connection))
  }

  #acceptSetup(connection: LiveServerConnection, keys: readonly string[]): void {
    const { handle } = connection
    const { acceptSetup = true, onConnection } = this.#options
    const refusal = this.#findRefusal(handle, keys)
    if (refusal) {
      connection.close(1007, refusal)
      return
    }
    if (handle !== undefined) this.#resume(connection, handle)
    connection.conversation.declare(connection.setup?.tools)
    if (!this.conversations.includes(connection.conversation)) this.conversations.push(connection.conversation)
    if (acceptSetup) connection.send({ setupComplete: {} })
    if (acceptSetup && this.sendHandles) connection.newHandle()
    void this.#notify('onConnection', () => onConnection?.(connection))
    this.queue.add(connection)
  }

  #findRefusal(handle: string | undefined, keys: readonly string[]): string | undefined {
    const { apiKey, rejectHandles = [] } = this.#options
    if (apiKey !== undefined && !keys.includes(apiKey)) return 'API key not valid. Please pass a valid API key.'
    if (handle === undefined || !rejectHandles.includes(handle)) return undefined
    return 'Request contains an invalid argument: the session resumption handle.'
  }

  #resume(connection: LiveServerConnection, handle: string): void {
    const conversation = this.#handles.get(handle)
    if (conversation) connection.conversation = conversation
    else this.problems.push(`A client resumed with "${handle}", a handle that this server never sent.`)
  }

  async #notify(name: string, callback: () => void | Promise<void>): Promise<void> {
    try {
      await callback()
    } catch (error) {
      this.problems.push(`${name}() of geminiLiveServer() threw an error: ${messageOf(error)}`)
    }
  }
}
