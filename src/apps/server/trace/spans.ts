// The trace of a session, made from the views of its log.
import { jsonSize } from '../../../core/base/json.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { Event } from '../../../core/event/event.ts'
import { readLog } from '../../../core/event/views/log-reader.ts'
import type { CallView, InvocationView, ReplyView, ScopeView } from '../../../core/event/views/views.ts'
import type { Session } from '../../../services/session/service.ts'
import { requestOf } from './llm-request.ts'
import { ATTRIBUTE, type Span, toNanoseconds } from './span.ts'

/** How spans are made. */
interface SpanOptions {
  /** The model of each agent. */
  readonly models: ReadonlyMap<string, string>
  /** The most bytes that the requests, replies, arguments and results in the spans have together. */
  readonly maxBytes: number
}

/**
 * The spans of a session: one per invocation, agent, model reply and tool call. Throws `TOO_LARGE`: a span repeats the messages
 * before it, so that they have many times the bytes of the session.
 */
export function spansOf({ id, events }: Pick<Session, 'id' | 'events'>, { models, maxBytes }: SpanOptions): Span[] {
  const write = textWriter(maxBytes)
  const shown = events.filter(({ content }) => content)
  return readLog(shown.map((event) => ({ event })))
    .invocations()
    .flatMap((invocation) => {
      const own = shown.filter(({ invocationId }) => invocationId === invocation.id)
      return new InvocationTrace(id, { invocation, events: own }, { models, write }).spans()
    })
}

/** Writes JSON, up to this many bytes in all. */
function textWriter(maxBytes: number): (value: object) => string {
  let left = maxBytes
  return (value) => {
    left -= jsonSize(value, left)
    if (left < 0)
      throw new ToolwrightError(
        'TOO_LARGE',
        `The trace has more than ${maxBytes} bytes. Read the events in pages instead.`,
      )
    return JSON.stringify(value)
  }
}

/** What a trace is made from. */
interface Traced {
  readonly invocation: InvocationView
  /** The events of the invocation. */
  readonly events: readonly Event[]
}

/** Makes the spans of one invocation. */
class InvocationTrace {
  readonly #sessionId: string
  readonly #invocation: InvocationView
  readonly #events: readonly Event[]
  /** The places of the events, by id. */
  readonly #places: ReadonlyMap<string, number>
  readonly #models: ReadonlyMap<string, string>
  readonly #write: (value: object) => string

  constructor(
    sessionId: string,
    { invocation, events }: Traced,
    { models, write }: { models: ReadonlyMap<string, string>; write: (value: object) => string },
  ) {
    this.#sessionId = sessionId
    this.#invocation = invocation
    this.#events = events
    this.#places = new Map(events.map(({ id }, at) => [id, at]))
    this.#models = models
    this.#write = write
  }

  spans(): Span[] {
    const { id, startedAt, updatedAt, scopes, replies, calls } = this.#invocation
    const root = this.#span({ name: 'invocation', id, parent: null, startedAt, endedAt: updatedAt })
    const steps = [
      ...replies.filter(({ isModel }) => isModel).map((reply) => this.#replySpan(reply)),
      ...calls.filter(({ response }) => response).map((call) => this.#callSpan(call)),
    ]
    steps.sort((one, other) => one.at - other.at)
    return [root, ...scopes.map((scope) => this.#scopeSpan(scope)), ...steps.map(({ span }) => span)]
  }

  #scopeSpan({ path, agent, startedAt, updatedAt }: ScopeView): Span {
    const above = path.slice(0, Math.max(0, path.lastIndexOf('/')))
    const isKnown = this.#invocation.scopes.some((scope) => scope.path === above)
    return this.#span({
      name: `invoke_agent ${agent}`,
      id: this.#scopeId(path),
      parent: isKnown ? this.#scopeId(above) : this.#invocation.id,
      startedAt,
      endedAt: updatedAt,
      attributes: { [ATTRIBUTE.operation]: 'invoke_agent', [ATTRIBUTE.agent]: agent },
    })
  }

  #replySpan({ eventId, agent, path, startedAt, endedAt, usage = {} }: ReplyView): PlacedSpan {
    const at = this.#places.get(eventId) ?? -1
    const { content, finishReason, usageMetadata } = this.#events[at] ?? {}
    const model = this.#models.get(agent)
    const span = this.#span({
      name: 'call_llm',
      id: eventId,
      parent: this.#scopeId(path),
      startedAt,
      endedAt,
      attributes: {
        [ATTRIBUTE.event]: eventId,
        [ATTRIBUTE.operation]: 'generate_content',
        [ATTRIBUTE.agent]: agent,
        ...(model !== undefined && { [ATTRIBUTE.model]: model }),
        ...(typeof usage.promptTokenCount === 'number' && { [ATTRIBUTE.inputTokens]: usage.promptTokenCount }),
        ...(typeof usage.candidatesTokenCount === 'number' && { [ATTRIBUTE.outputTokens]: usage.candidatesTokenCount }),
        [ATTRIBUTE.llmRequest]: this.#write(requestOf(this.#events, at, model)),
        [ATTRIBUTE.llmResponse]: this.#write({ content, finishReason, usageMetadata }),
      },
    })
    return { span, at }
  }

  #callSpan({ id, name, path, args, response, madeAt, responseId = '', ...times }: CallView): PlacedSpan {
    const { startedAt = madeAt, endedAt = startedAt } = times
    const span = this.#span({
      name: `execute_tool ${name}`,
      id: `${responseId}/${id}`,
      parent: this.#scopeId(path),
      startedAt,
      endedAt,
      attributes: {
        [ATTRIBUTE.event]: responseId,
        [ATTRIBUTE.operation]: 'execute_tool',
        [ATTRIBUTE.tool]: name,
        [ATTRIBUTE.toolCall]: id,
        [ATTRIBUTE.toolArgs]: this.#write(args),
        [ATTRIBUTE.toolResponse]: this.#write(response?.response ?? {}),
      },
    })
    return { span, at: this.#places.get(responseId) ?? -1 }
  }

  #span({ name, id, parent, startedAt, endedAt, attributes = {} }: NewSpan): Span {
    return {
      name,
      span_id: id,
      trace_id: this.#invocation.id,
      parent_span_id: parent,
      start_time: toNanoseconds(startedAt),
      end_time: toNanoseconds(endedAt),
      attributes: {
        [ATTRIBUTE.session]: this.#sessionId,
        [ATTRIBUTE.conversation]: this.#sessionId,
        [ATTRIBUTE.invocation]: this.#invocation.id,
        ...attributes,
      },
    }
  }

  #scopeId(path: string): string {
    return `${this.#invocation.id}/${path}`
  }
}

/** A span, and the place of its event. */
interface PlacedSpan {
  readonly span: Span
  readonly at: number
}

interface NewSpan {
  readonly name: string
  readonly id: string
  readonly parent: string | null
  readonly startedAt: number
  readonly endedAt: number
  readonly attributes?: Span['attributes']
}
