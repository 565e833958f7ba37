// Renders events as terminal text. It returns text and writes nothing; times come from the events.

import { escapeLine, escapeText } from '../../../core/base/escape.ts'
import { isRecord } from '../../../core/base/json.ts'
import { type Content, type FunctionResponse, type Part, textOf } from '../../../core/content/content.ts'
import type { Event } from '../../../core/event/event.ts'
import { describeFailedAttempt } from '../../../core/event/failed-attempts.ts'
import { progressIn } from '../../../core/event/progress.ts'
import { LogReader } from '../../../core/event/views/log-reader.ts'
import type { CallView } from '../../../core/event/views/views.ts'
import { createPaint, type Paint } from './paint.ts'
import { StreamingText } from './streaming-text.ts'
import { truncate } from './text-width.ts'
import { agentCallLine, type CallLayout, completedCallLines } from './tool-call-lines.ts'
import { formatValue } from './tool-text.ts'

/** Options of `EventRenderer`. */
export interface EventRendererOptions {
  /** The root agent; its text is shown without a name. */
  readonly rootName: string
  /** Columns of the terminal. Default: text is not wrapped. */
  readonly width?: number | undefined
  /** Use colours and render markdown. */
  readonly colour: boolean
  /** A status line shows the progress, so progress needs no own lines. Default: false. */
  readonly isLive?: boolean | undefined
  /** Show results in full. Default: false. */
  readonly verbose?: boolean | undefined
  /** Receives each truncated result in full. Without it the truncated line mentions `--verbose`. */
  readonly onTruncated?: ((text: string) => void) | undefined
}

/** The text of a model reply received so far. */
interface Reply {
  readonly output: StreamingText
  text: string
  /** How many characters of `text` were written. */
  written: number
  isLabelled: boolean
}

/** Columns where the output is not a terminal. */
const PLAIN_WIDTH = 120
const INDENT = '  '

/** Renders the events of one run, in order. */
export class EventRenderer {
  readonly #options: EventRendererOptions
  readonly #paint: Paint
  /** Unfinished replies, by scope path. */
  readonly #replies: Map<string, Reply> = new Map()
  /** The reply shown while it streams. Replies of parallel agents are shown when they are complete. */
  #streaming: Reply | undefined
  /** What the events say about calls. */
  readonly #log = new LogReader()
  /** Scopes of agent tools. */
  readonly #agentToolScopes: Set<string> = new Set()
  /** Ids of agent tool calls whose inner events were shown. */
  readonly #openedCalls: Set<string> = new Set()
  #progress: string | undefined
  /** The last written block: tool lines, or the text of an author; and its indent. */
  #last: { readonly what: string; readonly indent: string } | undefined

  constructor(options: EventRendererOptions) {
    this.#options = options
    this.#paint = createPaint(options.colour)
  }

  /** Returns the text to write for an event; often empty. */
  render(event: Event): string {
    this.#log.add({ event })
    if (event.author === 'user') return ''
    const start = this.#openAgentTool(event)
    return start + (event.partial ? this.#renderPartial(event) : this.#renderComplete(event))
  }

  /** Returns the text to write after the last event. */
  end(): string {
    return this.#closeLine()
  }

  /** The label of the status line; undefined in the middle of a text line. */
  get status(): string | undefined {
    if (this.#streaming?.output.isMidLine) return undefined
    if (this.#streaming) return 'Writing'
    if (this.#progress !== undefined) return this.#progress
    const running = this.#log.calls().filter(({ status }) => status === 'running')
    const [first, ...others] = running
    if (!first) return 'Thinking'
    if (others.length === 0) return `${escapeLine(first.name)}  ${formatValue(first.args)}`
    return `${running.length} tools: ${running.map(({ name }) => escapeLine(name)).join(', ')}`
  }

  #renderPartial(event: Event): string {
    const text = modelTextOf(event.content)
    if (text === '') return this.#renderProgress(event)
    const path = pathOf(event)
    const reply = this.#replies.get(path) ?? this.#newReply(event)
    this.#replies.set(path, reply)
    reply.text += text
    this.#streaming ??= reply
    return this.#streaming === reply ? this.#writeUnwritten(reply, event) : ''
  }

  #newReply(event: Event): Reply {
    const { width, colour } = this.#options
    const output = new StreamingText({ width, isMarkdown: colour, paint: this.#paint }, this.#indentOf(event))
    return { output, text: '', written: 0, isLabelled: false }
  }

  /** Writes the part of a reply that was not written yet. */
  #writeUnwritten(reply: Reply, event: Event): string {
    const text = reply.text.slice(reply.written)
    if (text === '') return ''
    const start = reply.isLabelled
      ? ''
      : this.#separator(`text of ${event.author}`, this.#indentOf(event)) + this.#authorLabel(event)
    reply.written = reply.text.length
    reply.isLabelled = true
    return start + reply.output.write(text)
  }

  #renderComplete(event: Event): string {
    const text = modelTextOf(event.content)
    const path = pathOf(event)
    const streamed = this.#replies.get(path)
    const isStreaming = streamed !== undefined && streamed === this.#streaming
    this.#replies.delete(path)
    let out = ''
    if (isStreaming && text.startsWith(streamed.text)) {
      streamed.text = text
      out += this.#writeUnwritten(streamed, event) + this.#closeLine()
      this.#streaming = undefined
    } else if (isStreaming || text !== '') {
      out += this.#closeLine()
      if (isStreaming) this.#streaming = undefined
      out += this.#writeText(text, event)
    }
    for (const part of event.content?.parts ?? []) out += this.#renderMedia(part, event)
    out += this.#renderResponses(event)
    if (event.errorCode !== undefined) {
      const message = `! ${event.errorCode}${event.errorMessage ? `: ${event.errorMessage}` : ''}`
      out += this.#line(this.#indentOf(event), this.#paint(['red'], escapeLine(message)))
    }
    return out
  }

  /** Writes a complete text. */
  #writeText(text: string, event: Event): string {
    const reply = this.#newReply(event)
    reply.text = text
    return this.#writeUnwritten(reply, event) + reply.output.end()
  }

  /** Renders the results of calls. */
  #renderResponses(event: Event): string {
    let out = ''
    for (const { functionResponse } of event.content?.parts ?? []) {
      if (!functionResponse) continue
      out += this.#renderResult(functionResponse, this.#log.call(functionResponse.id ?? ''), event)
      this.#progress = undefined
      const { response } = functionResponse
      const answer = response.text ?? response.result
      if (event.actions.skipSummarization && typeof answer === 'string') out += this.#writeText(answer, event)
    }
    return out
  }

  #renderProgress(event: Event): string {
    const progress = progressIn(event)
    if (!progress) return ''
    this.#progress = `${escapeLine(progress.name)}  ${formatValue(progress.value)}`
    if (this.#options.isLive || isRetryProgress(progress.value)) return ''
    const indent = this.#indentOf(event)
    return this.#line(indent, truncate(`… ${this.#progress}`, this.#availableWidth(indent)))
  }

  #renderResult({ name, response }: FunctionResponse, call: CallView | undefined, event: Event): string {
    if (name === 'get_user_choice' && call?.status === 'waiting') return '' // the request prompt shows it
    const { skipSummarization, transferToAgent } = event.actions
    const isOpened = call !== undefined && this.#openedCalls.has(call.id)
    const indent = this.#indentOf(event)
    const failed = (call?.failedAttempts ?? []).map((one) =>
      this.#paint(['dim'], truncate(`… ${escapeLine(describeFailedAttempt(one))}`, this.#availableWidth(indent))),
    )
    const lines = completedCallLines(
      {
        name,
        args: isOpened ? undefined : call?.args,
        response,
        seconds: call ? secondsOf(call, event) : 0,
        isWaiting: call?.status === 'waiting',
        isShownElsewhere: isOpened || skipSummarization === true || transferToAgent !== undefined,
      },
      this.#layout(indent),
    )
    return [...failed, ...lines].map((line) => this.#line(indent, line)).join('')
  }

  #layout(indent: string): CallLayout {
    const { verbose, onTruncated, width } = this.#options
    return {
      width: this.#availableWidth(indent),
      isWrapped: width !== undefined,
      paint: this.#paint,
      verbose,
      onTruncated,
    }
  }

  #renderMedia({ inlineData, fileData, executableCode, codeExecutionResult }: Part, event: Event): string {
    const indent = this.#indentOf(event) + INDENT
    if (inlineData) {
      const kilobytes = Math.ceil((inlineData.data.length * 3) / 4 / 1000)
      const name = escapeLine(inlineData.displayName ?? inlineData.mimeType)
      return this.#line(indent, this.#paint(['dim'], `[${name}, ${kilobytes} kB]`))
    }
    if (fileData)
      return this.#line(indent, this.#paint(['dim'], `[${escapeLine(fileData.displayName ?? fileData.fileUri)}]`))
    const code = executableCode?.code ?? codeExecutionResult?.output
    if (!code) return ''
    const lines = escapeText(code).replace(/\n$/, '').split('\n')
    return lines.map((line) => this.#line(indent, this.#paint(executableCode ? ['cyan'] : ['dim'], line))).join('')
  }

  #line(indent: string, safeText: string): string {
    return `${this.#closeLine()}${this.#separator('tool', indent)}${indent}${safeText}\n`
  }

  /** In a terminal an empty line separates text from tool lines, and the texts of two agents. */
  #separator(what: string, indent: string): string {
    const last = this.#last
    this.#last = { what, indent }
    return this.#options.isLive && last && last.what !== what && last.indent === indent ? '\n' : ''
  }

  /** Ends the current line. A reply that continues later is labelled with its author again. */
  #closeLine(): string {
    if (!this.#streaming) return ''
    this.#streaming.isLabelled = false
    return this.#streaming.output.end()
  }

  #authorLabel(event: Event): string {
    const { author } = event
    if (author === this.#options.rootName || event.isolationScope !== undefined) return ''
    return `${this.#paint(['bold', 'magenta'], `${escapeLine(author)}:`)}${this.#options.colour ? '\n' : ' '}`
  }

  /** Writes the call of an agent tool before the agent's first event, which is shown below it. */
  #openAgentTool({ isolationScope: scope, ...event }: Event): string {
    if (scope === undefined || this.#agentToolScopes.has(scope)) return ''
    const call = this.#log.call(scope.slice(scope.lastIndexOf('@') + 1))
    const indent = this.#indentOf({ ...event, isolationScope: scope }).slice(INDENT.length)
    if (!call) return ''
    this.#openedCalls.add(call.id)
    return this.#line(indent, agentCallLine(call.name, call.args, this.#layout(indent)))
  }

  /** Indents an event once for each agent tool that contains it. */
  #indentOf({ isolationScope: scope }: Event): string {
    if (scope === undefined) return ''
    this.#agentToolScopes.add(scope)
    const enclosing = [...this.#agentToolScopes].filter((outer) => scope === outer || scope.startsWith(`${outer}/`))
    return INDENT.repeat(enclosing.length)
  }

  #availableWidth(indent: string): number {
    return Math.max((this.#options.width ?? PLAIN_WIDTH) - indent.length, 20)
  }
}

/** How long a call ran until this event. */
function secondsOf({ startedAt, madeAt, endedAt }: CallView, { timestamp }: Event): number {
  return Math.max((endedAt ?? timestamp) - (startedAt ?? madeAt), 0)
}

/** Does `retry()` report a failed attempt? The attempt is written with its error above the result. */
function isRetryProgress(progress: unknown): boolean {
  if (!isRecord(progress)) return false
  const { message, attempt, attempts } = progress
  return message === `Attempt ${attempt} of ${attempts} failed. Trying again.`
}

/** The text of a model reply. Other roles, e.g. corrections for the model, are not shown. */
function modelTextOf(content: Content | undefined): string {
  return content?.role === 'model' ? textOf(content) : ''
}

function pathOf({ nodeInfo }: Event): string {
  return nodeInfo?.path ?? ''
}
