// Events as a person reads them in a terminal. Pure: text out, nothing written, no clock but the events' own.
import { styleText } from 'node:util'
import {
  type Content,
  type FunctionCall,
  type FunctionResponse,
  functionCallsOf,
  type Part,
  textOf,
} from '../content/content.ts'
import type { Event } from '../event/event.ts'
import { cut, inOneLine, visible } from './visible.ts'

export interface RenderOptions {
  /** Who needs no introduction: others are named before what they say. */
  readonly rootName: string
  /** Lines about tools are cut to it. */
  readonly width: number
  readonly colour: boolean
}

/** A reply as far as it is known. */
interface Reply {
  said: string
  /** How much of it was written. */
  shown: number
  /** Whose it is was written on this line. */
  named: boolean
}

/** Renders the events of one run, in order. */
export class Renderer {
  readonly #options: RenderOptions
  /** Replies that are being streamed, by scope. */
  readonly #replies: Map<string, Reply> = new Map()
  /** Of agents that stream beside each other one is followed; the others are shown when it is done. */
  #followed: Reply | undefined
  #midLine = false
  /** When calls were made. */
  readonly #calls: Map<string, number> = new Map()
  readonly #agentTools: Set<string> = new Set()

  constructor(options: RenderOptions) {
    this.#options = options
  }

  /** What to write for this event; often nothing. */
  event(event: Event): string {
    if (event.author === 'user') return ''
    return event.partial ? this.#delta(event) : this.#whole(event)
  }

  /** What to write after the last event. */
  end(): string {
    return this.#endLine()
  }

  #delta(event: Event): string {
    const text = saidIn(event.content)
    if (text === '') return this.#responses(event)
    const path = pathOf(event)
    const reply = this.#replies.get(path) ?? { said: '', shown: 0, named: false }
    this.#replies.set(path, reply)
    reply.said += text
    this.#followed ??= reply
    return this.#followed === reply ? this.#goOn(reply, event) : ''
  }

  /** Shows what was not shown yet of a reply. */
  #goOn(reply: Reply, event: Event): string {
    const text = visible(reply.said.slice(reply.shown))
    if (text === '') return ''
    const name = reply.named ? '' : this.#nameOf(event)
    reply.shown = reply.said.length
    reply.named = true
    return this.#say(name + text, event)
  }

  #whole(event: Event): string {
    const text = saidIn(event.content)
    const path = pathOf(event)
    const streamed = this.#replies.get(path)
    const isFollowed = streamed !== undefined && streamed === this.#followed
    if (isFollowed) this.#followed = undefined
    this.#replies.delete(path)
    const reply =
      isFollowed && text.startsWith(streamed.said)
        ? { ...streamed, said: text }
        : { said: text, shown: 0, named: false }
    let out = reply.shown > 0 || text === '' ? '' : this.#endLine()
    out += this.#goOn(reply, event)
    if (isFollowed || text !== '') out += this.#endLine()
    for (const part of event.content?.parts ?? []) out += this.#media(part, event)
    for (const call of functionCallsOf(event.content)) out += this.#call(call, event)
    out += this.#responses(event)
    if (event.errorCode !== undefined) {
      const message = `! ${event.errorCode}${event.errorMessage ? `: ${event.errorMessage}` : ''}`
      out += this.#line(this.#indent(event), message, 'red')
    }
    return out
  }

  #call(call: FunctionCall, event: Event): string {
    if (call.id !== undefined) this.#calls.set(call.id, event.timestamp)
    if (isRequest(call.name)) return ''
    return this.#toolLine('->', call.name, call.args, '', event)
  }

  /** Results, and progress while there is none. */
  #responses(event: Event): string {
    let out = ''
    for (const { functionResponse } of event.content?.parts ?? []) {
      if (!functionResponse) continue
      const { id = '', name, response } = functionResponse
      const started = this.#calls.get(id)
      const elapsed = started === undefined ? '' : ` ${Math.max(event.timestamp - started, 0).toFixed(1)}s`
      const value = event.partial && Object.hasOwn(response, 'progress') ? response.progress : response
      out += this.#toolLine(event.partial ? '..' : '<-', name, value, elapsed, event)
      if (!event.partial && event.actions.skipSummarization) out += this.#answer(functionResponse, event)
    }
    return out
  }

  /** A result that is the answer itself is shown whole. */
  #answer({ response }: FunctionResponse, event: Event): string {
    const said = response.text ?? response.result
    return typeof said === 'string' ? this.#say(visible(said), event) + this.#endLine() : ''
  }

  #media({ inlineData, fileData, executableCode, codeExecutionResult }: Part, event: Event): string {
    const indent = this.#indent(event)
    if (inlineData) {
      const kilobytes = Math.ceil((inlineData.data.length * 3) / 4 / 1000)
      return this.#line(indent, `  [${inlineData.displayName ?? inlineData.mimeType}, ${kilobytes} kB]`, 'dim')
    }
    if (fileData) return this.#line(indent, `  [${fileData.displayName ?? fileData.fileUri}]`, 'dim')
    const code = executableCode?.code ?? codeExecutionResult?.output
    return code ? this.#say(visible(code), event) + this.#endLine() : ''
  }

  #toolLine(sign: string, name: string, value: unknown, end: string, event: Event): string {
    const start = `  ${sign} ${cut(inOneLine(name), 40)} `
    const indent = this.#indent(event)
    const room = this.#options.width - indent.length - start.length - end.length
    const shown = cut(inOneLine(JSON.stringify(value) ?? 'undefined'), Math.max(room, 16))
    return this.#line(indent, start + shown + end, 'dim')
  }

  #line(indent: string, text: string, style: 'dim' | 'red'): string {
    const shown = inOneLine(text)
    const painted = this.#options.colour ? styleText(style, shown, { validateStream: false }) : shown
    return `${this.#endLine()}${indent}${painted}\n`
  }

  #say(text: string, event: Event): string {
    if (text === '') return ''
    const indent = this.#indent(event)
    const out = (this.#midLine ? '' : indent) + text.replace(/\n(?=[^\n])/g, `\n${indent}`)
    this.#midLine = !text.endsWith('\n')
    return out
  }

  /** Whatever comes next starts a line; a reply that is interrupted by it says again whose it is. */
  #endLine(): string {
    if (this.#followed) this.#followed.named = false
    if (!this.#midLine) return ''
    this.#midLine = false
    return '\n'
  }

  #nameOf({ author }: Event): string {
    return author === this.#options.rootName ? '' : `${inOneLine(author)}: `
  }

  /** One step for each agent tool around it. */
  #indent({ isolationScope: scope }: Event): string {
    if (scope === undefined) return ''
    this.#agentTools.add(scope)
    const around = [...this.#agentTools].filter((outer) => scope === outer || scope.startsWith(`${outer}/`))
    return '    '.repeat(around.length)
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
