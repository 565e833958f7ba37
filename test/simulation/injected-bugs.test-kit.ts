// Bugs to inject between a runner and its store. Each breaks one promise of the runner.
import type { Event, Part, SessionService } from 'toolwright'
import type { Entry, LogRecord, NewEntry } from 'toolwright/store'
import type { StoreWrapper } from './process.ts'

type Append = Parameters<SessionService['append']>

/** Acknowledges an intent before it is stored, and stores it with the next append. */
export const bodyBeforeIntent: StoreWrapper = (service) => {
  let held: Append | undefined
  return overriding(service, {
    async append(...append) {
      const before = held
      held = undefined
      if (before) await service.append(...before)
      if (!append[2].length || !append[2].every(({ record }) => record?.type === 'intent'))
        return await service.append(...append)
      held = append
      return append[1] + append[2].length
    },
  })
}

/** Hides that an approved call has run. */
export const usedApproval: StoreWrapper = (service) =>
  rereading(service, (entries) => {
    const approved = approvedCalls(entries)
    return entries.map((entry) => {
      if (entry.record?.type === 'intent' && entry.record.calls.some(({ id }) => approved.has(id))) {
        const nothing: LogRecord = {
          type: 'denial',
          invocationId: entry.record.invocationId,
          requestId: '',
          reason: '',
        }
        return { seq: entry.seq, record: nothing }
      }
      const answers = entry.event?.content?.parts.map(({ functionResponse }) => functionResponse?.id ?? '') ?? []
      return entry.event?.content?.role === 'tool' && answers.some((id) => approved.has(id)) ? silent(entry) : entry
    })
  })

/** Drops the last result of an event that has several. */
export const lostSibling: StoreWrapper = (service) =>
  rewriting(service, (event) => {
    const { content } = event
    if (content?.role !== 'tool' || content.parts.length < 2) return event
    return { ...event, content: { ...content, parts: content.parts.slice(0, -1) } }
  })

/** Lets the first of two calls that write the same key win. */
export const deltasOutOfOrder: StoreWrapper = (service) =>
  rewriting(service, (event) => {
    const shared = event.actions.stateDelta?.shared
    const first = event.content?.parts[0]?.functionResponse
    const last = event.content?.parts.at(-1)?.functionResponse
    const isTwice =
      first && last && first.id !== last.id && first.name === last.name && shared === `${last.name} of ${last.id}`
    if (!isTwice) return event
    const stateDelta = { ...event.actions.stateDelta, shared: `${first.name} of ${first.id}` }
    return { ...event, actions: { ...event.actions, stateDelta } }
  })

/** Hides the final event of the first child of a workflow once a later child has begun. */
export const wrongChild: StoreWrapper = (service) =>
  rereading(service, (entries) => {
    const inChild = entries.filter(({ event }) => /^root\/a\d+@1$/.test(event?.nodeInfo?.path ?? '') && !event?.branch)
    const first = inChild[0]?.event
    const isOver = inChild.some(
      ({ event }) => event?.invocationId === first?.invocationId && event?.nodeInfo?.path !== first?.nodeInfo?.path,
    )
    return entries.map((entry) => (isOver && isLastWord(entry.event, first) ? silent(entry) : entry))
  })

/** Dates every inbox item as posted now. */
export const postedJustNow: StoreWrapper = (service) =>
  overriding(service, {
    inbox: async (lease) => (await service.inbox(lease)).map((item) => ({ ...item, seq: 1e9 })),
    post: async (key, item) => {
      await service.post(key, item)
      return 1e9
    },
  })

/** Stores a cut result in full size. */
export const wholeResults: StoreWrapper = (service) =>
  rewriting(service, (event) =>
    withParts(event, ({ functionResponse, ...part }) => {
      if (functionResponse?.response.truncated !== true)
        return { ...part, ...(functionResponse && { functionResponse }) }
      const text = 'x'.repeat(Number(functionResponse.response.bytes))
      return { functionResponse: { ...functionResponse, response: { text } } }
    }),
  )

/** Hides that arguments were cut, so that the call runs. */
export const forgottenCut: StoreWrapper = (service) =>
  rewriting(service, (event) =>
    withParts(event, (part) =>
      part.functionCall?.args && Object.keys(part.functionCall.args).join() === 'truncatedArgsBytes'
        ? { functionCall: { ...part.functionCall, args: { n: 1, note: 'x'.repeat(3_000) } } }
        : part,
    ),
  )

/** Gives a call the id of an earlier call. */
export const repeatedId: StoreWrapper = (service) => {
  let first: string | undefined
  return rewriting(service, (event) =>
    withParts(event, (part) => {
      const { functionCall } = part
      if (!functionCall || !event.turnComplete) return part
      first ??= functionCall.id
      return { functionCall: { ...functionCall, id: first ?? '' } }
    }),
  )
}

/** Stores replies so that they are not counted as model calls. */
export const uncountedReplies: StoreWrapper = (service) => rewriting(service, ({ turnComplete: _, ...event }) => event)

/** Stores call arguments as a plugin changed them. */
export const tamperedCalls: StoreWrapper = (service) =>
  rewriting(service, (event) =>
    withParts(event, (part) =>
      part.functionCall && event.turnComplete
        ? { functionCall: { ...part.functionCall, args: { ...part.functionCall.args, note: 'tampered' } } }
        : part,
    ),
  )

/** Drops the handle of cancelled work. */
export const lostHandle: StoreWrapper = (service) =>
  rewriting(service, (event) =>
    withParts(event, (part) => {
      const { handle: _, ...response } = part.functionResponse?.response ?? {}
      return part.functionResponse ? { functionResponse: { ...part.functionResponse, response } } : part
    }),
  )

/** Creates the copy of a session like any other session. */
export const visibleCopies: StoreWrapper = (service) =>
  overriding(service, {
    createCopy: async ({ state, ...key }) => {
      await service.createSession({ ...key, state })
      return await service.claim(key)
    },
  })

/** Never removes an unfinished copy. */
export const forgottenCopies: StoreWrapper = (service) => overriding(service, { claimUnfinishedCopies: async () => [] })

/** Stores imported events as if the app had recorded them. */
export const runnableImports: StoreWrapper = (service) =>
  overriding(service, {
    createSession: async ({ events, ...options }) => {
      const session = await service.createSession(options)
      if (!events) return session
      const lease = await service.claim({ ...options, sessionId: session.id })
      await service.append(
        lease,
        0,
        events.map((event) => ({ event })),
      )
      await service.release(lease, { interrupted: true })
      return session
    },
  })

/** Records requests without their session. */
export const requestsOfNoSession: StoreWrapper = (service) =>
  overriding(service, {
    append: (lease, seq, entries, options) =>
      service.append(
        lease,
        seq,
        entries.map((entry): NewEntry => {
          if (entry.record?.type !== 'request') return entry
          const { session: _, ...record } = entry.record
          return { record }
        }),
        options,
      ),
  })

function withParts(event: Event, change: (part: Part) => Part): Event {
  return event.content ? { ...event, content: { ...event.content, parts: event.content.parts.map(change) } } : event
}

function isLastWord(event: Event | undefined, first: Event | undefined): boolean {
  const { content, nodeInfo, invocationId } = event ?? {}
  if (invocationId !== first?.invocationId || nodeInfo?.path !== first?.nodeInfo?.path) return false
  return content?.role === 'model' && content.parts.every(({ text }) => text !== undefined)
}

function approvedCalls(entries: readonly Entry[]): Set<string> {
  const yes = new Set(
    entries.flatMap(({ event }) =>
      event?.author === 'user'
        ? (event.content?.parts ?? []).flatMap(({ functionResponse: answer }) =>
            answer?.response.confirmed === true ? [answer.id ?? ''] : [],
          )
        : [],
    ),
  )
  return new Set(
    entries.flatMap(({ record }) => (record?.type === 'request' && yes.has(record.id) ? [record.callId] : [])),
  )
}

/** An entry with the same sequence number and without content. */
function silent({ seq, event }: Entry): Entry {
  const { content: _, ...rest } = event as Event
  return { seq, event: { ...rest, actions: {} } }
}

function rereading(service: SessionService, reread: (entries: readonly Entry[]) => readonly Entry[]): SessionService {
  return overriding(service, {
    async read(...read) {
      const log = await service.read(...read)
      return { ...log, entries: reread(log.entries), memo: {} }
    },
  })
}

function rewriting(service: SessionService, rewrite: (event: Event) => Event): SessionService {
  return overriding(service, {
    append: (lease, seq, entries, options) =>
      service.append(
        lease,
        seq,
        entries.map((entry): NewEntry => (entry.event ? { event: rewrite(entry.event) } : entry)),
        options,
      ),
  })
}

function overriding(service: SessionService, methods: Partial<SessionService>): SessionService {
  return { ...service, ...methods }
}
