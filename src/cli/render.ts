// Events as a person reads them in a terminal. Pure: text out, nothing written, no clock but the events' own.
import type { JsonObject } from '../base/json.ts'
import { type Content, functionCallsOf, type Part, textOf } from '../content/content.ts'
import type { Event } from '../event/event.ts'
import { cut } from './columns.ts'
import { type Paint, paintFor } from './paint.ts'
import { TextFlow } from './text-flow.ts'
import { openedLine, resultLines, type ToolLayout } from './tool-lines.ts'
import { errorIn, readable } from './tool-text.ts'
import { inOneLine, visible } from './visible.ts'

export interface RenderOptions {
  /** The agent that is not introduced by its name. */
  readonly rootName: string
  /** The columns of the terminal; undefined: text is not wrapped. */
  readonly width?: number | undefined
  readonly colour: boolean
  /** A status line shows progress, so that it needs no lines of its own. */
  readonly isLive?: boolean | undefined
  /** Results are shown whole. */
  readonly verbose?: boolean | undefined
  /** Gets what was cut, whole; without it `--verbose` is named. */
  readonly onCut?: ((text: string) => void) | undefined
}

/** A reply as far as it is known. */
interface Reply {
  readonly flow: TextFlow
  said: string
  /** How much of it was handed to the flow. */
  shown: number
  isNamed: boolean
}

interface Call {
  readonly name: string
  readonly args: unknown
  readonly startedAt: number
  readonly isLongRunning: boolean
}

/** Where no terminal says how wide it is. */
const PLAIN_WIDTH = 120
const INDENT = '  '

/** Renders the events of one run, in order. */
export class Renderer {
  readonly #options: RenderOptions
  readonly #paint: Paint
  /** Replies that are being streamed, by scope. */
  readonly #replies: Map<string, Reply> = new Map()
  /** Of agents that stream beside each other one is followed; the others are shown when it is done. */
  #followed: Reply | undefined
  /** Calls without a result. */
  readonly #calls: Map<string, Call> = new Map()
  /** Scopes of agent tools. */
  readonly #agentTools: Set<string> = new Set()
  /** Calls whose inside was shown. */
  readonly #opened: Set<Call> = new Set()
  #progress: string | undefined
  /** What was written last: a line about a tool, or the author of a text; and how far it was indented. */
  #last: { readonly what: string; readonly indent: string } | undefined

  constructor(options: RenderOptions) {
    this.#options = options
    this.#paint = paintFor(options.colour)
  }

  /** What to write for this event; often nothing. */
  event(event: Event): string {
    if (event.author === 'user') return ''
    const start = this.#enter(event)
    return start + (event.partial ? this.#delta(event) : this.#whole(event))
  }

  /** What to write after the last event. */
  end(): string {
    return this.#endLine()
  }

  /** What is being waited for; undefined while text is being written. */
  get status(): string | undefined {
    if (this.#followed?.flow.isMidLine) return undefined
    if (this.#followed) return 'Writing'
    if (this.#progress !== undefined) return this.#progress
    const running = [...this.#calls.values()].filter(({ isLongRunning }) => !isLongRunning)
    const [first, ...others] = running
    if (!first) return 'Thinking'
    if (others.length === 0) return `${inOneLine(first.name)}  ${readable(first.args)}`
    return `${running.length} tools: ${running.map(({ name }) => inOneLine(name)).join(', ')}`
  }

  #delta(event: Event): string {
    const text = saidIn(event.content)
    if (text === '') return this.#responses(event)
    const path = pathOf(event)
    const reply = this.#replies.get(path) ?? this.#newReply(event)
    this.#replies.set(path, reply)
    reply.said += text
    this.#followed ??= reply
    return this.#followed === reply ? this.#continue(reply, event) : ''
  }

  #newReply(event: Event): Reply {
    const { width, colour } = this.#options
    const flow = new TextFlow({ width, isMarkdown: colour, paint: this.#paint }, this.#indent(event))
    return { flow, said: '', shown: 0, isNamed: false }
  }

  /** Shows what was not shown yet of a reply. */
  #continue(reply: Reply, event: Event): string {
    const text = reply.said.slice(reply.shown)
    if (text === '') return ''
    const start = reply.isNamed ? '' : this.#gap(`text of ${event.author}`, this.#indent(event)) + this.#nameOf(event)
    reply.shown = reply.said.length
    reply.isNamed = true
    return start + reply.flow.write(text)
  }

  #whole(event: Event): string {
    const text = saidIn(event.content)
    const path = pathOf(event)
    const streamed = this.#replies.get(path)
    const isFollowed = streamed !== undefined && streamed === this.#followed
    this.#replies.delete(path)
    let out = ''
    if (isFollowed && text.startsWith(streamed.said)) {
      streamed.said = text
      out += this.#continue(streamed, event) + this.#endLine()
      this.#followed = undefined
    } else if (isFollowed || text !== '') {
      out += this.#endLine()
      if (isFollowed) this.#followed = undefined
      out += this.#say(text, event)
    }
    for (const part of event.content?.parts ?? []) out += this.#media(part, event)
    this.#addCalls(event)
    out += this.#responses(event)
    if (event.errorCode !== undefined) {
      const message = `! ${event.errorCode}${event.errorMessage ? `: ${event.errorMessage}` : ''}`
      out += this.#line(this.#indent(event), this.#paint(['red'], inOneLine(message)))
    }
    return out
  }

  /** A text that is known as a whole. */
  #say(text: string, event: Event): string {
    const reply = this.#newReply(event)
    reply.said = text
    return this.#continue(reply, event) + reply.flow.end()
  }

  #addCalls(event: Event): void {
    for (const { id, name, args } of functionCallsOf(event.content)) {
      if (id === undefined || isRequest(name)) continue
      const isLongRunning = event.longRunningToolIds?.includes(id) === true
      this.#calls.set(id, { name, args, startedAt: event.timestamp, isLongRunning })
    }
  }

  /** Results, and progress while there is none. */
  #responses(event: Event): string {
    let out = ''
    for (const { functionResponse } of event.content?.parts ?? []) {
      if (!functionResponse) continue
      const { id = '', name, response } = functionResponse
      if (event.partial) {
        out += this.#showProgress(name, Object.hasOwn(response, 'progress') ? response.progress : response, event)
        continue
      }
      out += this.#result(name, this.#calls.get(id), response, event)
      this.#calls.delete(id)
      this.#progress = undefined
      const answer = response.text ?? response.result
      if (event.actions.skipSummarization && typeof answer === 'string') out += this.#say(answer, event)
    }
    return out
  }

  #showProgress(name: string, progress: unknown, event: Event): string {
    this.#progress = `${inOneLine(name)}  ${readable(progress)}`
    if (this.#options.isLive) return ''
    const indent = this.#indent(event)
    return this.#line(indent, cut(`… ${this.#progress}`, this.#room(indent)))
  }

  #result(name: string, call: Call | undefined, response: JsonObject, event: Event): string {
    if (name === 'get_user_choice' && call?.isLongRunning && errorIn(response) === undefined) return '' // the question shows it
    const { skipSummarization, transferToAgent } = event.actions
    const isOpened = call !== undefined && this.#opened.has(call)
    const indent = this.#indent(event)
    const lines = resultLines(
      {
        name,
        args: isOpened ? undefined : call?.args,
        response,
        seconds: call ? Math.max(event.timestamp - call.startedAt, 0) : 0,
        isWaiting: call?.isLongRunning === true,
        isShownElsewhere: isOpened || skipSummarization === true || transferToAgent !== undefined,
      },
      this.#layout(indent),
    )
    return lines.map((line) => this.#line(indent, line)).join('')
  }

  #layout(indent: string): ToolLayout {
    const { verbose, onCut, width } = this.#options
    return { width: this.#room(indent), isWrapped: width !== undefined, paint: this.#paint, verbose, onCut }
  }

  #media({ inlineData, fileData, executableCode, codeExecutionResult }: Part, event: Event): string {
    const indent = this.#indent(event) + INDENT
    if (inlineData) {
      const kilobytes = Math.ceil((inlineData.data.length * 3) / 4 / 1000)
      const name = inOneLine(inlineData.displayName ?? inlineData.mimeType)
      return this.#line(indent, this.#paint(['dim'], `[${name}, ${kilobytes} kB]`))
    }
    if (fileData)
      return this.#line(indent, this.#paint(['dim'], `[${inOneLine(fileData.displayName ?? fileData.fileUri)}]`))
    const code = executableCode?.code ?? codeExecutionResult?.output
    if (!code) return ''
    const lines = visible(code).replace(/\n$/, '').split('\n')
    return lines.map((line) => this.#line(indent, this.#paint(executableCode ? ['cyan'] : ['dim'], line))).join('')
  }

  #line(indent: string, safeText: string): string {
    return `${this.#endLine()}${this.#gap('tool', indent)}${indent}${safeText}\n`
  }

  /** In a terminal an answer stands apart from the lines about tools, and from other agents. */
  #gap(what: string, indent: string): string {
    const last = this.#last
    this.#last = { what, indent }
    return this.#options.isLive && last && last.what !== what && last.indent === indent ? '\n' : ''
  }

  /** Whatever comes next starts a line; a reply that is interrupted by it says again whose it is. */
  #endLine(): string {
    if (!this.#followed) return ''
    this.#followed.isNamed = false
    return this.#followed.flow.end()
  }

  #nameOf(event: Event): string {
    const { author } = event
    if (author === this.#options.rootName || event.isolationScope !== undefined) return ''
    return `${this.#paint(['bold', 'magenta'], `${inOneLine(author)}:`)}${this.#options.colour ? '\n' : ' '}`
  }

  /** What happens in an agent used as a tool is shown below its call. */
  #enter({ isolationScope: scope, ...event }: Event): string {
    if (scope === undefined || this.#agentTools.has(scope)) return ''
    const call = this.#calls.get(scope.slice(scope.lastIndexOf('@') + 1))
    const indent = this.#indent({ ...event, isolationScope: scope }).slice(INDENT.length)
    if (!call) return ''
    this.#opened.add(call)
    return this.#line(indent, openedLine(call.name, call.args, this.#layout(indent)))
  }

  /** One step for each agent tool around it. */
  #indent({ isolationScope: scope }: Event): string {
    if (scope === undefined) return ''
    this.#agentTools.add(scope)
    const around = [...this.#agentTools].filter((outer) => scope === outer || scope.startsWith(`${outer}/`))
    return INDENT.repeat(around.length)
  }

  #room(indent: string): number {
    return Math.max((this.#options.width ?? PLAIN_WIDTH) - indent.length, 20)
  }
}

/** What an agent says; requests to it and corrections have another role. */
function saidIn(content: Content | undefined): string {
  return content?.role === 'model' ? textOf(content) : ''
}

function pathOf({ nodeInfo }: Event): string {
  return nodeInfo?.path ?? ''
}

function isRequest(name: string): boolean {
  return name.startsWith('adk_request_')
}
