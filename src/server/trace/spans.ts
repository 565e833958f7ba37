// The trace of a session, derived from its events.
import { jsonSize } from '../../base/json.ts'
import type { FunctionCall, FunctionResponse } from '../../content/content.ts'
import { ToolwrightError } from '../../error/error.ts'
import { callTimeOf } from '../../event/call-time.ts'
import type { Event } from '../../event/event.ts'
import type { Session } from '../../session/service.ts'
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
  const invocations = Map.groupBy(
    events.filter(({ content }) => content),
    ({ invocationId }) => invocationId,
  )
  return [...invocations.values()].flatMap((own) => new InvocationTrace(id, own, { models, write }).spans())
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

/** Collects the spans of one invocation. */
class InvocationTrace {
  readonly #sessionId: string
  readonly #events: readonly Event[]
  readonly #models: ReadonlyMap<string, string>
  readonly #write: (value: object) => string
  readonly #calls: Map<string, { readonly call: FunctionCall; readonly from: number }> = new Map()

  constructor(
    sessionId: string,
    events: readonly Event[],
    { models, write }: { models: ReadonlyMap<string, string>; write: (value: object) => string },
  ) {
    this.#sessionId = sessionId
    this.#events = events
    this.#models = models
    this.#write = write
  }

  spans(): Span[] {
    const [first] = this.#events
    if (!first) return []
    const root = this.#around('invocation', this.#events, { id: first.invocationId, parent: null })
    const agents = Map.groupBy(
      this.#events.filter(({ nodeInfo }) => nodeInfo),
      ({ nodeInfo }) => nodeInfo?.path ?? '',
    )
    const inside = [...agents].map(([path, own]) => this.#agentSpan(path, own, agents))
    return [root, ...inside, ...this.#events.flatMap((event, at) => this.#eventSpans(event, at))]
  }

  #agentSpan(path: string, own: readonly Event[], agents: ReadonlyMap<string, unknown>): Span {
    const above = path.slice(0, Math.max(0, path.lastIndexOf('/')))
    const parent = agents.has(above) ? this.#scopeId(above) : this.#scopeId(undefined)
    const name = agentAt(path)
    // the agent has worked since the event before its first one
    const before = this.#events[this.#events.indexOf(own[0] as Event) - 1]
    return this.#around(`invoke_agent ${name}`, before ? [before, ...own] : own, {
      id: this.#scopeId(path),
      parent,
      attributes: { [ATTRIBUTE.operation]: 'invoke_agent', [ATTRIBUTE.agent]: name },
    })
  }

  /** The model reply, or the tool calls, that an event records. */
  #eventSpans(event: Event, at: number): Span[] {
    const start = this.#events[at - 1]?.timestamp ?? event.timestamp
    const { parts } = event.content ?? { parts: [] }
    for (const { functionCall: call } of parts) {
      if (call?.id !== undefined) this.#calls.set(call.id, { call, from: event.timestamp })
    }
    if (event.author === 'user' || event.partial) return []
    if (event.turnComplete) return [this.#replySpan(event, at, start)]
    return parts.flatMap(({ functionResponse }) =>
      functionResponse && !functionResponse.willContinue ? [this.#toolSpan(event, functionResponse, start)] : [],
    )
  }

  #replySpan(event: Event, at: number, start: number): Span {
    const { content, usageMetadata: usage = {}, finishReason } = event
    const model = this.#models.get(event.author)
    const request = requestOf(this.#events, at, model)
    return this.#span('call_llm', event, start, {
      [ATTRIBUTE.operation]: 'generate_content',
      [ATTRIBUTE.agent]: event.author,
      ...(model !== undefined && { [ATTRIBUTE.model]: model }),
      ...(typeof usage.promptTokenCount === 'number' && { [ATTRIBUTE.inputTokens]: usage.promptTokenCount }),
      ...(typeof usage.candidatesTokenCount === 'number' && { [ATTRIBUTE.outputTokens]: usage.candidatesTokenCount }),
      [ATTRIBUTE.llmRequest]: this.#write(request),
      [ATTRIBUTE.llmResponse]: this.#write({ content, finishReason, usageMetadata: event.usageMetadata }),
    })
  }

  #toolSpan(event: Event, { id = '', name, response }: FunctionResponse, start: number): Span {
    const called = this.#calls.get(id)
    const { startedAt = called?.from ?? start, endedAt } = callTimeOf(event, id)
    const span = this.#span(`execute_tool ${name}`, event, startedAt, {
      [ATTRIBUTE.operation]: 'execute_tool',
      [ATTRIBUTE.tool]: name,
      [ATTRIBUTE.toolCall]: id,
      [ATTRIBUTE.toolArgs]: this.#write(called?.call.args ?? {}),
      [ATTRIBUTE.toolResponse]: this.#write(response),
    })
    return { ...span, end_time: toNanoseconds(endedAt) }
  }

  #span(name: string, event: Event, start: number, attributes: Span['attributes']): Span {
    const callId = attributes[ATTRIBUTE.toolCall]
    return {
      name,
      span_id: callId === undefined ? event.id : `${event.id}/${callId}`,
      trace_id: event.invocationId,
      parent_span_id: this.#scopeId(event.nodeInfo?.path),
      start_time: toNanoseconds(start),
      end_time: toNanoseconds(event.timestamp),
      attributes: { ...this.#common(), [ATTRIBUTE.event]: event.id, ...attributes },
    }
  }

  /** A span around events. */
  #around(
    name: string,
    events: readonly Event[],
    { id, parent, attributes }: { id: string; parent: string | null; attributes?: Span['attributes'] },
  ): Span {
    const [first] = events
    const time = (pick: (...times: number[]) => number): number =>
      events.reduce((found, { timestamp }) => pick(found, timestamp), first?.timestamp ?? 0)
    return {
      name,
      span_id: id,
      trace_id: first?.invocationId ?? '',
      parent_span_id: parent,
      start_time: toNanoseconds(time(Math.min)),
      end_time: toNanoseconds(time(Math.max)),
      attributes: { ...this.#common(), ...attributes },
    }
  }

  #common(): Span['attributes'] {
    return {
      [ATTRIBUTE.session]: this.#sessionId,
      [ATTRIBUTE.conversation]: this.#sessionId,
      [ATTRIBUTE.invocation]: this.#events[0]?.invocationId ?? '',
    }
  }

  /** The id of the span of a scope; of the invocation without a path. */
  #scopeId(path: string | undefined): string {
    const invocationId = this.#events[0]?.invocationId ?? ''
    return path === undefined ? invocationId : `${invocationId}/${path}`
  }
}

/** The agent of a scope path. */
function agentAt(path: string): string {
  const last = path.slice(path.lastIndexOf('/') + 1)
  const at = last.indexOf('@')
  return at < 0 ? last : last.slice(0, at)
}
