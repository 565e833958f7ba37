// Fills in the path of an operation. A value is always one segment: it can neither leave the path nor add to it.
import { isRecord } from '../../../core/base/json.ts'
import { ToolError } from '../../../core/error/error.ts'
import type { ApiOperation, ApiParameter } from '../operation.ts'
import { contentText } from './content-text.ts'
import { DECODED_TIMES, decodeTriplets, encodeText } from './percent-encode.ts'
import { serializeSimple, textOf } from './serialize-value.ts'

const EXPRESSION = /\{([^{}]*)\}/g

/** The path template without the parts that do not belong to a path: some documents put a query or a fragment there. */
export function splitTemplate(template: string): { readonly path: string; readonly query: string } {
  const [withoutFragment = ''] = template.split('#')
  const [path = '', ...query] = withoutFragment.split('?')
  return { path: path.startsWith('/') ? path : `/${path}`, query: query.join('?') }
}

/** The path of an operation with the values of its parameters, percent-encoded. */
export function expandPath(operation: ApiOperation, args: ReadonlyMap<string, unknown>): string {
  const path = splitTemplate(operation.path).path.replace(EXPRESSION, (_, name: string) => {
    const parameter = operation.parameters.find((one) => one.in === 'path' && one.name === name)
    if (parameter) return expandParameter(parameter, args.get(parameter.argument))
    throw new ToolError(`The path of operation "${operation.name}" has no parameter for one of its braces.`)
  })
  for (const segment of path.split('/')) checkSegment(segment)
  return path
}

function expandParameter(parameter: ApiParameter, value: unknown): string {
  const { name, style, explode, contentType } = parameter
  if (style === 'label' && explode && contentType === undefined) checkNoDots(parameter, value)
  const written =
    contentType === undefined
      ? serializeSimple(value, { name, style, explode, encode: encodeText })
      : encodeText(contentText(value, contentType) ?? '')
  if (written) return written
  throw invalid(`The argument "${parameter.argument}" is a part of the path and must not be empty.`)
}

/** Refuses items with a dot where dots separate items: percent-encoding does not apply to dots, so one item would be read as two. */
function checkNoDots({ argument }: ApiParameter, value: unknown): void {
  const items = Array.isArray(value) ? value : isRecord(value) ? Object.entries(value).flat() : []
  if (!items.some((item) => item !== undefined && textOf(item).includes('.'))) return
  const problem = `An item of "${argument}" contains the character that separates items there, so that it would be read as two`
  throw invalid(`${problem}. Remove it.`)
}

/** Refuses a segment that a server may read as `.` or `..`, and a NUL, however often it is decoded on its way. */
function checkSegment(segment: string): void {
  let text = segment
  for (let times = 0; times <= DECODED_TIMES; times++) {
    if (text.includes('\0')) throw invalid('An argument of the path contains a NUL character. Remove it.')
    // some servers cut the parameters of a segment: `..;v` is `..`
    if (text.split(/[/\\]/).some((part) => /^\.{1,2}(?:;|$)/.test(part)))
      throw invalid('An argument of the path contains the segment "." or "..", which leads to another path. Remove it.')
    const decoded = decodeTriplets(text)
    if (decoded === text) return
    text = decoded
  }
}

function invalid(message: string): ToolError {
  return new ToolError(message, { code: 'INVALID_ARGS' })
}
