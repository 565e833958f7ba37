import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { Event, EventActions } from '../../../core/event/event.ts'
import { Fields, invalid } from './fields.ts'
import { readImportedContent } from './read-content.ts'

/** Members of an event that are JSON objects and stay as they are. */
const OBJECTS = ['usageMetadata', 'groundingMetadata', 'citationMetadata', 'customMetadata'] as const
const TRANSCRIPTIONS = ['inputTranscription', 'outputTranscription'] as const
const TEXTS = ['branch', 'errorCode', 'errorMessage', 'finishReason', 'modelVersion'] as const
const FLAGS = ['turnComplete', 'interrupted'] as const

/**
 * The events that a client imports into a new session; undefined if there are none. Only members that a client may write are
 * read. The store makes them finished history. Partial events are left out.
 */
export function readEvents(body: Fields): Event[] | undefined {
  return body
    .optionalList('events')
    ?.map((event, at) => new Fields(event, `events.${at}`))
    .filter((event) => !event.flag('partial'))
    .map(readEvent)
}

function readEvent(fields: Fields): Event {
  const content = fields.value('content')
  const read: JsonObject = {
    id: fields.optionalText('id') ?? '',
    invocationId: fields.optionalText('invocationId') ?? '',
    author: fields.text('author'),
    timestamp: readTime(fields),
    actions: readActions(fields),
  }
  if (content !== undefined) read.content = readImportedContent(content, fields.path('content'))
  for (const name of TEXTS) read[name] = fields.optionalText(name)
  for (const name of [...OBJECTS, ...TRANSCRIPTIONS]) read[name] = fields.optionalObject(name)
  for (const name of FLAGS) read[name] = fields.flag(name) || undefined
  return withoutUndefined(read) as unknown as Event // the members above are those of an event
}

/** Above it a time is in milliseconds, as the TypeScript ADK writes it: in seconds it would be after the year 5000. */
const MAX_SECONDS = 1e11

function readTime(fields: Fields): number {
  const value = fields.value('timestamp')
  if (typeof value !== 'number') throw invalid(`${fields.path('timestamp')} must be a number of seconds.`)
  return value > MAX_SECONDS ? value / 1000 : value
}

function readActions(event: Fields): EventActions {
  const given = event.optionalObject('actions')
  if (!given) return {}
  const actions = new Fields(given, event.path('actions'))
  const read = {
    stateDelta: filled(actions.optionalObject('stateDelta')),
    artifactDelta: filled(actions.optionalObject('artifactDelta')),
    transferToAgent: actions.optionalText('transferToAgent'),
    skipSummarization: actions.flag('skipSummarization') || undefined,
    escalate: actions.flag('escalate') || undefined,
  }
  return withoutUndefined(read) as EventActions // the members above are actions
}

function filled(delta: JsonObject | undefined): JsonObject | undefined {
  return isRecord(delta) && Object.keys(delta).length > 0 ? delta : undefined
}

function withoutUndefined(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined))
}
