import {
  anything,
  callback,
  checkOptions,
  list,
  type OptionRules,
  record,
  text,
  wholeNumber,
} from '../../core/error/check-options.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { LiveConnectionError, type LiveConnectOptions, type LiveModel } from '../../engine/model/live-model.ts'
import { Arrivals } from './arrivals.ts'
import { createConnection } from './scripted-live/connection.ts'
import { type FindReply, ScriptedConversation } from './scripted-live/conversation.ts'
import type {
  ScriptedLive,
  ScriptedLiveConnection,
  ScriptedLiveInput,
  ScriptedLiveOptions,
  ScriptedLiveReply,
  ScriptedLiveScript,
  ScriptedLiveStep,
} from './scripted-live-script.ts'

const RULES: OptionRules<ScriptedLiveOptions> = {
  name: text,
  capabilities: record,
  failConnects: wholeNumber(0),
  connectError: anything,
}
const REPLY_RULES: OptionRules<ScriptedLiveReply> = {
  heard: text,
  text,
  audio: anything,
  transcript: text,
  messages: list,
  calls: list,
  goAway: wholeNumber(0),
  drop: anything,
  delayMs: wholeNumber(0),
}
const CALL_RULES = { name: text, args: anything, id: text }
const EVERYTHING = {
  toolsWithOutputSchema: true,
  serverToolsWithFunctions: true,
  nonBlocking: true,
  updates: true,
  resumption: true,
} satisfies LiveModel['capabilities']

/**
 * Creates a live model that replies from a script, without a network. Each step answers the next text, content with
 * `turnComplete`, or end of activity. After a step with calls, the next step answers their responses.
 *
 * @example
 * const model = scriptedLive([{ calls: [{ name: 'get_weather', args: { city: 'Oslo' } }] }, 'Cold.'])
 */
export function scriptedLive(script: ScriptedLiveScript, options: ScriptedLiveOptions = {}): ScriptedLive {
  checkOptions('scriptedLive()', options, RULES)
  if (Array.isArray(script)) script.forEach(checkStep)
  else if (!callback.accepts(script))
    throw new ToolwrightError('INVALID_CONFIG', 'scriptedLive() takes a list of steps or a function.')
  const { connectError, failConnects = connectError ? Infinity : 0 } = options
  const capabilities = { ...EVERYTHING, ...options.capabilities }
  const requests: LiveConnectOptions[] = []
  const connections = new Arrivals<ScriptedLiveConnection>()
  const player = createPlayer(script)
  const { problems } = player
  const open = createOpener({ findReply: player.findReply, capabilities, problems })
  return {
    name: options.name ?? 'scripted-live',
    capabilities,
    connections: connections.all,
    requests,
    problems,
    nextConnection: () => connections.next(),
    assertComplete: player.assertComplete,
    async connect(request) {
      requests.push(request)
      if (request.signal.aborted) throw failure('The attempt to connect was aborted.', request.signal.reason)
      if (requests.length <= failConnects)
        throw connectError ?? failure(`scriptedLive() fails attempt ${requests.length}.`)
      const connection = open(request)
      connections.add(connection)
      return connection
    },
  }
}

type OpenConnection = (options: LiveConnectOptions) => ScriptedLiveConnection

/** What all conversations of a model share. */
interface Conversations {
  readonly findReply: FindReply
  readonly capabilities: { readonly nonBlocking: boolean; readonly resumption: boolean }
  readonly problems: string[]
}

/** Opens connections. A connection with a handle continues the conversation that the handle was sent in. */
function createOpener({ findReply, capabilities, problems }: Conversations): OpenConnection {
  const conversations = new Map<string, ScriptedConversation>()
  let calls = 0
  const newCallId = (): string => `call-${++calls}`
  return (options) => {
    const resumed = conversations.get(options.resumeHandle ?? '')
    const conversation =
      resumed ?? new ScriptedConversation({ findReply, newCallId, isNonBlocking: capabilities.nonBlocking, problems })
    const newHandle = (): string => {
      const handle = `handle-${conversations.size + 1}`
      conversations.set(handle, conversation)
      return handle
    }
    const connection = createConnection({
      options,
      canResume: capabilities.resumption,
      newHandle,
      onMessage: (message) => conversation.receive(message),
      onCancelled: (ids) => conversation.cancel(ids),
    })
    conversation.attach(connection)
    return connection
  }
}

/** Plays the steps in order. */
function createPlayer(script: ScriptedLiveScript): {
  readonly findReply: FindReply
  readonly problems: string[]
  assertComplete(): void
} {
  let used = 0
  const problems: string[] = []
  const unanswered: string[] = []
  return {
    problems,
    async findReply(input, connection) {
      const step = typeof script === 'function' ? script : script[used++]
      if (step !== undefined) return await resolve(step, input, connection)
      unanswered.push(input.type)
      const message = `scriptedLive() has no step for input ${used} (${input.type}): the script has ${script.length} steps. Add a step.`
      return { messages: [{ type: 'error', message, code: 'SCRIPT_OVER' }] }
    },
    assertComplete() {
      const left = typeof script === 'function' ? 0 : script.length - used
      if (left > 0) throw new Error(`scriptedLive() has ${left} unused steps of ${script.length}.`)
      if (problems.length > 0)
        throw new Error(`scriptedLive() got messages that a provider ignores: ${problems.join(' ')}`)
      if (unanswered.length > 0) throw new Error(`scriptedLive() had no step for: ${unanswered.join(', ')}. Add steps.`)
    },
  }
}

async function resolve(
  step: ScriptedLiveStep,
  input: ScriptedLiveInput,
  connection: ScriptedLiveConnection,
): Promise<ScriptedLiveReply | undefined> {
  const given = typeof step === 'function' ? await step(input, connection) : step
  if (typeof given === 'function') return resolve(given, input, connection)
  if (given === undefined) return undefined
  if (typeof step === 'function') checkStep(given)
  return typeof given === 'string' ? { text: given } : given
}

function checkStep(step: ScriptedLiveStep): void {
  if (typeof step === 'string' || typeof step === 'function') return
  checkOptions('A step of scriptedLive()', step, REPLY_RULES)
  for (const call of step.calls ?? []) checkOptions('A call in a step of scriptedLive()', call, CALL_RULES)
}

function failure(message: string, cause?: unknown): LiveConnectionError {
  return new LiveConnectionError(message, { recover: 'fresh', cause })
}
