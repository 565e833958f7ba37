import {
  type LiveClientMessage,
  LiveConnectionError,
  type LiveConnectOptions,
  type LiveServerMessage,
} from '../../../engine/model/live-model.ts'
import type { ScriptedLiveConnection } from '../scripted-live-script.ts'
import { TypedInbox } from '../typed-inbox.ts'
import { LiveQueue } from './live-queue.ts'

/** What a connection needs of its model. */
interface ConnectionOptions {
  /** What the live session connected with. */
  readonly options: LiveConnectOptions
  /** Can the conversation be resumed? */
  readonly canResume: boolean
  /** Creates the handle that resumes the conversation. */
  newHandle(): string
  /** Called with each message of the live session. */
  onMessage(message: LiveClientMessage): void
  /** Called when the model no longer waits for these calls. */
  onCancelled(ids: readonly string[]): void
}

/** Creates a connection. */
export function createConnection(model: ConnectionOptions): ScriptedLiveConnection {
  return new ScriptedConnection(model)
}

class ScriptedConnection implements ScriptedLiveConnection {
  isClosed = false
  readonly #model: ConnectionOptions
  readonly #queue: LiveQueue<LiveServerMessage> = new LiveQueue()
  readonly #inbox: TypedInbox<LiveClientMessage> = new TypedInbox()
  #isIterated = false

  constructor(model: ConnectionOptions) {
    this.#model = model
    this.#emitHandle()
  }

  get options(): LiveConnectOptions {
    return this.#model.options
  }

  get sent(): readonly LiveClientMessage[] {
    return this.#inbox.all
  }

  send(message: LiveClientMessage): undefined {
    if (this.isClosed) throw new LiveConnectionError('The scripted connection is closed.', { recover: 'fresh' })
    this.#inbox.add(message)
    this.#model.onMessage(message)
  }

  next<T extends LiveClientMessage['type']>(type: T): Promise<Extract<LiveClientMessage, { type: T }>> {
    return this.#inbox.next(type) as Promise<Extract<LiveClientMessage, { type: T }>> // it is found by its type
  }

  emit(...messages: readonly LiveServerMessage[]): void {
    for (const message of messages) {
      if (this.isClosed) return
      this.#queue.push(message)
      if (message.type === 'turnComplete') this.#emitHandle()
      if (message.type === 'toolCancelled') this.#model.onCancelled(message.ids)
    }
  }

  lose(error?: LiveConnectionError): void {
    const recover = this.#model.canResume ? 'resume' : 'fresh'
    this.#queue.fail(error ?? new LiveConnectionError('The script lost the connection.', { code: 1006, recover }))
    this.#end()
  }

  close(): void {
    this.#queue.close()
    this.#end()
  }

  [Symbol.asyncIterator](): AsyncIterator<LiveServerMessage> {
    if (this.#isIterated) throw new Error('A live connection can be iterated once. Read its messages in one loop.')
    this.#isIterated = true
    return this.#queue[Symbol.asyncIterator]()
  }

  #emitHandle(): void {
    if (this.#model.canResume) this.#queue.push({ type: 'resumption', handle: this.#model.newHandle() })
  }

  #end(): void {
    this.isClosed = true
    this.#inbox.close()
  }
}
