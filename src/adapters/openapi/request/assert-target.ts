import { ToolError } from '../../../core/error/error.ts'
import type { ApiOperation } from '../operation.ts'
import { splitTemplate } from './expand-path.ts'

const PLACEHOLDER = 'toolwright-parameter'

/**
 * Throws if the URL of a request does not lead to the operation. The URL is parsed again, as the server will see it: a guard
 * behind the encoding of each parameter.
 */
export function assertTarget(url: string, base: URL, operation: ApiOperation): void {
  const target = new URL(url)
  const template = splitTemplate(operation.path).path.replace(/\{[^{}]*\}/g, PLACEHOLDER)
  const wanted = new URL(base.href.replace(/\/$/, '') + template).pathname.split('/')
  const got = target.pathname.split('/')
  const isSame =
    target.origin === base.origin &&
    target.username === '' &&
    target.password === '' &&
    target.hash === '' &&
    got.length === wanted.length &&
    wanted.every((segment, at) => matches(segment, got[at] as string))
  if (isSame) return
  throw new ToolError(`The arguments lead to another address than that of operation "${operation.name}".`, {
    code: 'INVALID_ARGS',
  })
}

/** Does a segment start, go on and end with the literal parts of its template, with something in between? */
function matches(template: string, segment: string): boolean {
  const [first = '', ...rest] = template.split(PLACEHOLDER)
  const last = rest.pop()
  if (last === undefined) return segment === first
  if (!segment.startsWith(first) || !segment.endsWith(last)) return false
  let at = first.length
  for (const part of rest) {
    const found = segment.indexOf(part, at + 1)
    if (found < 0) return false
    at = found + part.length
  }
  return segment.length - last.length > at
}
