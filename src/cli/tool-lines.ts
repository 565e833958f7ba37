// The lines about a call: `✓ get_weather  city: Oslo  0.2s`, and below it what came of it.
import type { JsonObject } from '../base/json.ts'
import { cut } from './columns.ts'
import type { Paint, Style } from './paint.ts'
import { TextFlow } from './text-flow.ts'
import { errorIn, readable, resultIn, wholeCall } from './tool-text.ts'
import { inOneLine } from './visible.ts'

export interface ToolLayout {
  readonly width: number
  /** Errors are wrapped to the width. */
  readonly isWrapped: boolean
  readonly paint: Paint
  /** Nothing is cut. */
  readonly verbose?: boolean | undefined
  /** Gets what was cut, whole; without it `--verbose` is named. */
  readonly onCut?: ((text: string) => void) | undefined
}

/** A call with its result. */
export interface Answered {
  readonly name: string
  /** Undefined when they are not known here, or were shown before. */
  readonly args: unknown
  readonly response: JsonObject
  readonly seconds: number
  /** The result is a handle: the work goes on elsewhere. */
  readonly isWaiting: boolean
  /** Only an error is shown below the call. */
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

/** The call of an agent whose own steps come below. */
export function openedLine(name: string, args: unknown, layout: ToolLayout): string {
  return callLine(OPENED, name, readable(args), '', layout).text
}

export function resultLines({ name, args, response, ...answered }: Answered, layout: ToolLayout): string[] {
  const { width, paint, verbose, onCut } = layout
  const error = errorIn(response)
  const sign = error !== undefined ? ERROR : answered.isWaiting ? WAITING : DONE
  const time = answered.seconds >= 0.1 ? `  ${answered.seconds.toFixed(1)}s` : ''
  const head = callLine(sign, name, args === undefined ? '' : readable(args), time, layout)
  const result = error ?? (answered.isShownElsewhere ? '' : resultIn(response))
  const room = (width - INDENT.length) * (error === undefined ? 1 : ERROR_ROWS)
  const shown = verbose ? result : cutResult(result, room, onCut ? '/more' : '--verbose')
  if (shown !== result || head.isCut) onCut?.(wholeCall(name, args, response))
  if (shown === '') return [head.text]
  return [head.text, ...(error === undefined ? [INDENT + paint(['dim'], shown)] : errorRows(shown, layout))]
}

function callLine(
  sign: Sign,
  name: string,
  args: string,
  end: string,
  layout: ToolLayout,
): { text: string; isCut: boolean } {
  const { width, paint, verbose } = layout
  const shownName = cut(inOneLine(name), 40)
  const shownArgs = verbose ? args : cut(args, Math.max(width - shownName.length - end.length - 4, 12))
  const start = `${paint(sign.style, sign.text)} ${paint(['bold'], shownName)}`
  return { text: `${start}${shownArgs && `  ${shownArgs}`}${paint(['dim'], end)}`, isCut: shownArgs !== args }
}

function cutResult(result: string, room: number, more: string): string {
  const shown = cut(result, room)
  if (shown === result) return shown
  const how = ` (${more} shows all)`
  return cut(result, Math.max(room - how.length, 12)) + how
}

/** An error is wrapped: its end often says what to do. */
function errorRows(safeText: string, { width, isWrapped, paint }: ToolLayout): string[] {
  const red: Paint = (_, text) => paint(['red'], text)
  const flow = new TextFlow({ width: isWrapped ? width : undefined, isMarkdown: false, paint: red }, INDENT)
  return (flow.write(safeText) + flow.end()).trimEnd().split('\n')
}
