// What a behaviour of the hostile server works with: the messages of its client, and raw access to the connection.

/** A JSON-RPC message of the client. */
export interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: {
    readonly name?: string
    readonly cursor?: string
    readonly uri?: string
    readonly arguments?: { readonly [key: string]: unknown }
    readonly requestState?: string
    readonly inputResponses?: { readonly [key: string]: unknown }
    readonly _meta?: { readonly progressToken?: number | string }
    readonly [key: string]: unknown
  }
  readonly result?: unknown
  readonly error?: unknown
}

/** The connection to the client. */
export interface Peer {
  /** Sends a JSON-RPC message. `jsonrpc` is added. */
  send(message: object): void
  /** Sends the text of a message, which may be no JSON. */
  sendText(text: string): void
  /** Sends raw text, without framing. */
  write(text: string): void
  /** What the behaviour remembers. All connections of one server share it. */
  readonly memory: Memory
}

/** What a behaviour remembers. */
export interface Memory {
  /** Has the behaviour changed its tools? */
  isChanged: boolean
  /** How many `tools/list` requests have arrived. */
  lists: number
  /** How many calls have arrived. */
  calls: number
  /** Every message of the client, in order. */
  readonly received: Message[]
  /** The call that waits for the answer to a question. */
  waiting: Message | undefined
}

export function newMemory(): Memory {
  return { isChanged: false, lists: 0, calls: 0, received: [], waiting: undefined }
}

/** One way to misbehave. What it leaves out, the server does honestly. */
export interface Behaviour {
  /** What it does, for readers of the table. */
  readonly about: string
  /** Speaks the 2026-07-28 protocol. */
  readonly isModern?: boolean
  /** Called when the process starts (stdio). */
  start?(peer: Peer): void
  /** Handles requests and notifications by their method, instead of the honest server. */
  readonly on?: { readonly [method: string]: (message: Message, peer: Peer) => void }
  /** The tools that are listed besides `echo`. Default: `evil`. */
  tools?(memory: Memory): readonly unknown[]
  /** Handles a call of any tool but `echo`. */
  call?(message: Message, peer: Peer): void
  /** Handles an answer of the client to a request of the server. */
  answered?(message: Message, peer: Peer): void
}

export const EMPTY_SCHEMA = { type: 'object', properties: {} } as const

/** A tool that a behaviour lists. */
export function evilTool(more: object = {}): object {
  return { name: 'evil', description: 'Does something.', inputSchema: EMPTY_SCHEMA, ...more }
}

/** Answers a request with a text. */
export function answerText(peer: Peer, { id }: Message, text: string): void {
  peer.send({ id, result: { content: [{ type: 'text', text }] } })
}

/** Answers a request with a result. */
export function answer(peer: Peer, { id }: Message, result: unknown): void {
  peer.send({ id, result })
}

/** Handles a message: as the behaviour says, else honestly. */
export function receive(behaviour: Behaviour, message: Message, peer: Peer): void {
  const { memory } = peer
  const { method = '', id, params } = message
  memory.received.push(message)
  if (method === '') behaviour.answered?.(message, peer)
  else if (behaviour.on && Object.hasOwn(behaviour.on, method)) behaviour.on[method]?.(message, peer)
  else if (method === 'tools/call' && params?.name !== 'echo' && behaviour.call) {
    memory.calls++
    behaviour.call(message, peer)
  } else if (id !== undefined) {
    if (method === 'tools/list') memory.lists++
    if (method === 'tools/call') memory.calls++
    const result = honestResult(behaviour, message, memory)
    if (result) answer(peer, message, result)
    else peer.send({ id, error: { code: -32601, message: 'Method not found' } })
  }
}

function honestResult(behaviour: Behaviour, { method, params = {} }: Message, memory: Memory): object | undefined {
  const complete = behaviour.isModern ? { resultType: 'complete' } : {}
  const listing = { ...complete, ...(behaviour.isModern && { ttlMs: 0, cacheScope: 'private' }) }
  const capabilities = { tools: { listChanged: true }, resources: {}, prompts: {} }
  switch (method) {
    case 'server/discover':
      return behaviour.isModern
        ? { ...listing, supportedVersions: ['2026-07-28'], capabilities, serverInfo: INFO }
        : undefined
    case 'initialize':
      return { protocolVersion: '2025-11-25', capabilities, serverInfo: INFO }
    case 'tools/list':
      return { ...listing, tools: [ECHO, ...(behaviour.tools?.(memory) ?? [evilTool()])] }
    case 'tools/call':
      return { ...complete, content: [{ type: 'text', text: `echo ${JSON.stringify(params.arguments ?? {})}` }] }
    case 'resources/list':
      return { ...listing, resources: [{ uri: 'memo://one', name: 'one' }] }
    case 'resources/read':
      return { ...listing, contents: [{ uri: params.uri, text: 'a memo' }] }
    case 'prompts/list':
      return { ...listing, prompts: [{ name: 'greet', arguments: [{ name: 'who' }] }] }
    case 'prompts/get': {
      const text = `Greet ${String(params.arguments?.who ?? 'everyone')}.`
      return { ...complete, messages: [{ role: 'user', content: { type: 'text', text } }] }
    }
    default:
      return undefined
  }
}

const INFO = { name: 'hostile', version: '1' }
const ECHO = {
  name: 'echo',
  description: 'Repeats its arguments.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
}
