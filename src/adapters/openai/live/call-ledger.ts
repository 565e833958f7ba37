// Which tool calls the model waits for. The API takes one output for each call, and refuses outputs of unknown calls.

/** The longest call id that the API is known to accept. */
const MAX_ID_LENGTH = 32

/** The calls of one response. */
interface Batch {
  open: number
  isComplete: boolean
}

interface Call {
  readonly name: string
  /** The id at the provider. It differs for ids of other providers that are too long. */
  readonly providerId: string
  readonly batch: Batch
  isOpen: boolean
}

/** How to send a response to a call. */
type Answer =
  /** As the output of the call. `isLast`: no other call of its response is open. */
  | { readonly type: 'output'; readonly providerId: string; readonly isLast: boolean }
  /** As a message: the call has its output already, or the provider does not know it. */
  | { readonly type: 'late' }

/** Records the tool calls of a conversation. */
export class CallLedger {
  readonly #calls: Map<string, Call> = new Map()
  readonly #batches: Map<string, Batch> = new Map()

  /** Records a call of a response. Returns undefined if it is known already, otherwise its id for the provider. */
  add(responseId: string, id: string, name: string): string | undefined {
    if (this.#calls.has(id)) return undefined
    const batch = this.#batches.get(responseId) ?? { open: 0, isComplete: false }
    this.#batches.set(responseId, batch)
    batch.open++
    const providerId = id.length <= MAX_ID_LENGTH ? id : `call_${this.#calls.size + 1}`
    this.#calls.set(id, { name, providerId, batch, isOpen: true })
    return providerId
  }

  /** The response makes no more calls. Returns how many it made, and whether all of them have their outputs. */
  complete(responseId: string): { readonly hasCalls: boolean; readonly isAnswered: boolean } {
    const batch = this.#batches.get(responseId)
    this.#batches.delete(responseId)
    if (!batch) return { hasCalls: false, isAnswered: false }
    batch.isComplete = true
    return { hasCalls: true, isAnswered: batch.open === 0 }
  }

  /** Records the response to a call. A response without an id answers the oldest open call of the tool. */
  answer(id: string | undefined, name: string): Answer {
    const call = id === undefined ? this.#oldestOpen(name) : this.#calls.get(id)
    if (!call?.isOpen) return { type: 'late' }
    call.isOpen = false
    call.batch.open--
    return { type: 'output', providerId: call.providerId, isLast: call.batch.isComplete && call.batch.open === 0 }
  }

  #oldestOpen(name: string): Call | undefined {
    for (const call of this.#calls.values()) if (call.isOpen && call.name === name) return call
    return undefined
  }
}
