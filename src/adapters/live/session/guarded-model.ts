// A live model may be any object of the app. What it gets wrong must not end the process or the session.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import {
  type LiveConnection,
  LiveConnectionError,
  type LiveModel,
  type LiveServerMessage,
} from '../../../engine/model/live-model.ts'

/** The model, with connections that never throw where the session cannot catch it, and that send only well-formed messages. */
export function guardedModel(model: LiveModel): LiveModel {
  const { name, capabilities } = model
  return {
    name,
    ...(capabilities && { capabilities }),
    connect: async (options) => {
      const connection: unknown = await model.connect(options)
      if (isConnection(connection)) return guardedConnection(connection)
      const problem = `connect() of live model "${name}" returned ${kindOf(connection)}`
      throw new LiveConnectionError(`${problem}. It must return an object with send, close and an async iterator.`, {
        recover: 'nothing',
      })
    },
  }
}

function isConnection(value: unknown): value is LiveConnection {
  if (typeof value !== 'object' || value === null) return false
  const { send, close, [Symbol.asyncIterator]: iterate } = value as Partial<LiveConnection>
  return [send, close, iterate].every((member) => typeof member === 'function')
}

function guardedConnection(connection: LiveConnection): LiveConnection {
  return {
    send: (message) => {
      const behind: unknown = connection.send(message)
      // a failure is a lost connection, which the reader of the messages notices
      return behind === undefined ? undefined : Promise.resolve(behind).then(ignore, ignore)
    },
    pause: () => quietly(() => connection.pause?.()),
    resume: () => quietly(() => connection.resume?.()),
    ...(typeof connection.ping === 'function' && { ping: () => connection.ping?.() }),
    close: () => quietly(() => connection.close()),
    [Symbol.asyncIterator]: () => wellFormed(connection[Symbol.asyncIterator]()),
  }
}

/** Calls code that must not throw. It may be async although it should not be. */
function quietly(call: () => unknown): void {
  try {
    const returned = call()
    if (returned !== undefined) Promise.resolve(returned).catch(ignore)
  } catch {} // it must not throw, and nothing depends on it
}

const ignore = (): void => {}

/** A model that sends so many malformed messages in a row sends nothing else. */
const MAX_MALFORMED = 1_000

/** Leaves out messages that have not the form of their type. */
function wellFormed(messages: AsyncIterator<unknown>): AsyncIterator<LiveServerMessage> {
  return {
    next: async () => {
      for (let malformed = 0; malformed < MAX_MALFORMED; malformed++) {
        const { value, done } = await messages.next()
        if (done) return { value: undefined, done: true }
        if (isServerMessage(value)) return { value, done: false }
      }
      throw new LiveConnectionError(`The live model sent ${MAX_MALFORMED} malformed messages in a row.`, {
        recover: 'nothing',
      })
    },
    return: async () => {
      await messages.return?.()
      return { value: undefined, done: true }
    },
  }
}

type Form = (message: JsonObject) => boolean

const isText = (value: unknown): value is string => typeof value === 'string'
const isTextMessage: Form = ({ text }) => isText(text)
const always: Form = () => true

/** What a message of each type must have. Types that are not here are unknown. */
const FORMS: ReadonlyMap<unknown, Form> = new Map<unknown, Form>([
  ['audio', ({ data, mimeType }) => data instanceof Uint8Array && isText(mimeType)],
  ['text', isTextMessage],
  ['part', ({ part }) => isRecord(part)],
  ['inputTranscript', isTextMessage],
  ['outputTranscript', isTextMessage],
  ['toolCall', ({ calls }) => Array.isArray(calls) && calls.every(isCall)],
  ['toolCancelled', ({ ids }) => Array.isArray(ids) && ids.every(isText)],
  ['generationComplete', always],
  ['turnComplete', always],
  ['interrupted', always],
  ['usage', ({ usageMetadata }) => isRecord(usageMetadata)],
  ['grounding', ({ groundingMetadata }) => isRecord(groundingMetadata)],
  ['resumption', ({ handle }) => handle === undefined || isText(handle)],
  ['goAway', ({ timeLeftMs }) => typeof timeLeftMs === 'number' && timeLeftMs >= 0],
  ['activity', ({ state }) => state === 'start' || state === 'end'],
  ['error', ({ message }) => isText(message)],
])

function isCall(call: unknown): boolean {
  return isRecord(call) && isText(call.id) && isText(call.name) && isRecord(call.args)
}

function isServerMessage(value: unknown): value is LiveServerMessage {
  try {
    return isRecord(value) && FORMS.get(value.type)?.(value) === true
  } catch {
    return false // a getter threw
  }
}
