import type { JsonObject } from '../../../core/base/json.ts'
import { DocumentProblem } from './api-document.ts'

/** A path of the document without the parts that a path of OpenAPI must not have. */
interface SplitPath {
  /** The path that is sent. */
  readonly path: string
  /** The query that was part of the path, as parameters. */
  readonly parameters: readonly JsonObject[]
}

/**
 * Splits a path such as `/search?type=user&text={text}` or `/#Action=ListUsers`. Documents write them to tell apart operations
 * of one path. A fragment is never sent. Throws `DocumentProblem` if it looks like a part of the path.
 */
export function splitPath(given: string): SplitPath {
  const [withoutFragment = '', ...fragments] = given.split('#')
  if (fragments.some((fragment) => /[/{}]/.test(fragment)))
    throw new DocumentProblem('its path contains "#", and what follows would not be sent')
  const at = withoutFragment.indexOf('?')
  if (at < 0) return { path: withoutFragment, parameters: [] }
  const parameters = withoutFragment
    .slice(at + 1)
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', ...rest] = pair.split('=')
      const value = rest.join('=')
      const isFree = value === '' || /[{}]/.test(value)
      return {
        name: name.replace(/[{}]/g, ''),
        in: 'query',
        required: value !== '' || rest.length > 0,
        schema: isFree ? { type: 'string' } : { type: 'string', const: value },
      }
    })
  return { path: withoutFragment.slice(0, at), parameters }
}
