// One conversation with a scripted live model. A connection that resumes it continues where the lost one ended.

import type { FunctionResponse } from '../../../core/content/content.ts'
import { messageOf } from '../../../core/error/error.ts'
import { type LiveClientMessage, LiveConnectionError } from '../../../engine/model/live-model.ts'
import type { ConfigTool } from '../../../engine/model/llm-request-config.ts'
import type { ScriptedLiveConnection, ScriptedLiveInput, ScriptedLiveReply } from '../scripted-live-script.ts'
import { replyMessages } from './reply-messages.ts'

/** Finds the reply to an input. Undefined: the model does not reply. */
export type FindReply = (
  input: ScriptedLiveInput,
  connection: ScriptedLiveConnection,
) => Promise<ScriptedLiveReply | undefined>

/** What a conversation needs of its model. */
interface ConversationOptions {
  /** Finds the reply to an input. */
  readonly findReply: FindReply
  /** Creates the id of a call. */
  newCallId(): string
  /** Does the model go on while calls of tools run that are declared so? */
  readonly isNonBlocking: boolean
  /** What a provider would ignore. */
  readonly problems: string[]
}

/** Most answered calls that are remembered. */
const MAX_ANSWERED = 1_000

/** Answers the inputs of one conversation, one after the other. */
export class ScriptedConversation {
  readonly #options: ConversationOptions
  #connection: ScriptedLiveConnection | undefined
  #inputs: ScriptedLiveInput[] = []
  /** Names of the calls that have no final response yet, by id. */
  readonly #openCalls: Map<string, string> = new Map()
  /** Ids of calls that the model waits for, and whether they have their response. */
  readonly #blocking: Map<string, 'open' | 'answered'> = new Map()
  /** The tools as declared. */
  #tools: readonly ConfigTool[] = []
  /** Ids of open calls that were made on an earlier connection. */
  #earlierCalls: ReadonlySet<string> = new Set()
  /** The responses that the next step answers. */
  #continuation: ScriptedLiveInput | undefined
  #isAnswering = false

  constructor(options: ConversationOptions) {
    this.#options = options
  }

  /** Continues on a connection. Inputs of the connection before are dropped; its calls are not. */
  attach(connection: ScriptedLiveConnection): void {
    this.#connection = connection
    this.#tools = connection.options.tools
    this.#inputs = []
    // a handle may be older than a response, which the session then repeats
    for (const [id, state] of this.#blocking) if (state === 'answered') this.#blocking.delete(id)
    this.#earlierCalls = new Set(this.#openCalls.keys())
  }

  /** Takes a message of the live session. */
  receive(message: LiveClientMessage): void {
    if (message.type === 'update') this.#tools = message.tools ?? this.#tools
    if (message.type === 'toolResponses') {
      const wasOpen = this.#openCalls.size > 0
      for (const response of message.responses) this.#settle(response)
      if (wasOpen && this.#openCalls.size === 0) this.#continuation = message
    } else if (endsTurn(message)) {
      // a handle is made before the calls of a turn, so that a session may send their results as a message
      for (const id of this.#earlierCalls) this.#openCalls.delete(id)
      this.#inputs.push(message)
    }
    void this.#answerInputs()
  }

  /** The model no longer waits for these calls. */
  cancel(ids: readonly string[]): void {
    for (const id of ids) this.#openCalls.delete(id)
    void this.#answerInputs()
  }

  #settle({ id, name, willContinue }: FunctionResponse): void {
    const open = id ?? [...this.#openCalls].find(([, openName]) => openName === name)?.[0]
    if (open === undefined) return
    const blocking = this.#blocking.get(open)
    if (blocking === 'answered') this.#report(`Call "${open}" of "${name}" is BLOCKING and got a second response.`)
    if (blocking) this.#blocking.set(open, 'answered')
    else if (willContinue) return
    this.#openCalls.delete(open)
  }

  #report(problem: string): void {
    this.#options.problems.push(problem)
    this.#connection?.lose(new LiveConnectionError(problem, { recover: 'nothing' }))
  }

  /** Is the first response to a call of the tool the only one that the model reads? */
  #isBlocking(name: string): boolean {
    if (!this.#options.isNonBlocking) return true
    const declared = this.#tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations)
    const found = declared.find((declaration) => declaration.name === name)
    return found !== undefined && found.behavior !== 'NON_BLOCKING'
  }

  async #answerInputs(): Promise<void> {
    if (this.#isAnswering) return
    this.#isAnswering = true
    for (let input = this.#nextInput(); input; input = this.#nextInput()) await this.#answer(input)
    this.#isAnswering = false
  }

  #nextInput(): ScriptedLiveInput | undefined {
    const continuation = this.#continuation
    this.#continuation = undefined
    return continuation ?? (this.#openCalls.size === 0 ? this.#inputs.shift() : undefined)
  }

  async #answer(input: ScriptedLiveInput): Promise<void> {
    const connection = this.#connection
    if (!connection || connection.isClosed) return
    try {
      const reply = await this.#options.findReply(input, connection)
      if (!reply) return
      if (reply.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, reply.delayMs))
      this.#send(reply, connection)
    } catch (cause) {
      const message = `The script of scriptedLive() threw an error: ${messageOf(cause)}`
      connection.lose(new LiveConnectionError(message, { recover: 'nothing', cause }))
    }
  }

  #send(reply: ScriptedLiveReply, connection: ScriptedLiveConnection): void {
    if (connection.isClosed) return
    const calls = (reply.calls ?? []).map(({ id = this.#options.newCallId(), name, args = {} }) => ({ id, name, args }))
    for (const { id, name } of calls) this.#open(id, name)
    connection.emit(...replyMessages(reply, calls))
    if (reply.drop) connection.lose(reply.drop === true ? undefined : reply.drop)
  }

  #open(id: string, name: string): void {
    this.#openCalls.set(id, name)
    if (!this.#isBlocking(name)) return void this.#blocking.delete(id)
    this.#blocking.set(id, 'open') // again: a script may use an id again
    const [oldest = ''] = this.#blocking.keys()
    if (this.#blocking.size > MAX_ANSWERED) this.#blocking.delete(oldest)
  }
}

/** Does the model reply to the message? */
function endsTurn(message: LiveClientMessage): message is ScriptedLiveInput {
  switch (message.type) {
    case 'text':
      return true
    case 'content':
      return message.turnComplete
    case 'activity':
      return message.state === 'end'
    default:
      return false
  }
}
