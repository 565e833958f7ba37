// The lines that show a tool call: `✓ get_weather  city: Oslo  0.2s`, and below it the result.

import { escapeLine } from '../../../core/base/escape.ts'
import type { JsonObject } from '../../../core/base/json.ts'
import type { Paint, Style } from './paint.ts'
import { StreamingText } from './streaming-text.ts'
import { truncate } from './text-width.ts'
import { formatError, formatFullCall, formatResult, formatValue } from './tool-text.ts'

/** How the lines are laid out. */
export interface CallLayout {
  /** Columns of a line. */
  readonly width: number
  /** Wrap errors to the width. */
  readonly isWrapped: boolean
  /** Applies styles. */
  readonly paint: Paint
  /** Truncate nothing. Default: false. */
  readonly verbose?: boolean | undefined
  /** Receives each truncated call in full. Without it the truncated line mentions `--verbose`. */
  readonly onTruncated?: ((text: string) => void) | undefined
}

/** A tool call with its response. */
interface CompletedCall {
  /** Name of the tool. */
  readonly name: string
  /** Arguments; undefined when they are unknown or were shown before. */
  readonly args: unknown
  /** The function response. */
  readonly response: JsonObject
  /** Duration of the call. */
  readonly seconds: number
  /** The response is the handle of a long-running call. */
  readonly isWaiting: boolean
  /** The result is visible elsewhere: show only an error below the call. */
  readonly isShownElsewhere: boolean
}

interface Sign {
  readonly text: string
  readonly style: Style
}

const DONE: Sign = { text: '✓', style: ['green'] }
const ERROR: Sign = { text: '✗', style: ['red'] }
const WAITING: Sign = { text: '…', style: ['yellow'] }
const OPENED: Sign = { text: '▸', style: ['cyan'] }
const INDENT = '  '
const ERROR_ROWS = 4

/** The line of an agent tool call whose events are shown below it. */
export function agentCallLine(name: string, args: unknown, layout: CallLayout): string {
  return callLine({ sign: OPENED, name, args: formatValue(args), end: '' }, layout).text
}

/** The lines of a call and its result. */
export function completedCallLines({ name, args, response, ...call }: CompletedCall, layout: CallLayout): string[] {
  const { width, paint, verbose, onTruncated } = layout
  const error = formatError(response)
  const sign = error !== undefined ? ERROR : call.isWaiting ? WAITING : DONE
  const time = call.seconds >= 0.1 ? `  ${call.seconds.toFixed(1)}s` : ''
  const head = callLine({ sign, name, args: args === undefined ? '' : formatValue(args), end: time }, layout)
  const result = error ?? (call.isShownElsewhere ? '' : formatResult(response))
  const room = (width - INDENT.length) * (error === undefined ? 1 : ERROR_ROWS)
  const shown = verbose ? result : truncateResult(result, room, onTruncated ? '/more' : '--verbose')
  if (shown !== result || head.isCut) onTruncated?.(formatFullCall(name, args, response))
  if (shown === '') return [head.text]
  return [head.text, ...(error === undefined ? [INDENT + paint(['dim'], shown)] : errorRows(shown, layout))]
}

interface CallLine {
  readonly sign: Sign
  readonly name: string
  readonly args: string
  /** Text after the arguments. */
  readonly end: string
}

function callLine(
  { sign, name, args, end }: CallLine,
  { width, paint, verbose }: CallLayout,
): { text: string; isCut: boolean } {
  const shownName = truncate(escapeLine(name), 40)
  const shownArgs = verbose ? args : truncate(args, Math.max(width - shownName.length - end.length - 4, 12))
  const start = `${paint(sign.style, sign.text)} ${paint(['bold'], shownName)}`
  return { text: `${start}${shownArgs && `  ${shownArgs}`}${paint(['dim'], end)}`, isCut: shownArgs !== args }
}

function truncateResult(result: string, room: number, more: string): string {
  const shown = truncate(result, room)
  if (shown === result) return shown
  const how = ` (${more} shows all)`
  return truncate(result, Math.max(room - how.length, 12)) + how
}

/** Wraps an error instead of truncating it: the end of an error often says what to do. */
function errorRows(safeText: string, { width, isWrapped, paint }: CallLayout): string[] {
  const red: Paint = (_, text) => paint(['red'], text)
  const flow = new StreamingText({ width: isWrapped ? width : undefined, isMarkdown: false, paint: red }, INDENT)
  return (flow.write(safeText) + flow.end()).trimEnd().split('\n')
}
