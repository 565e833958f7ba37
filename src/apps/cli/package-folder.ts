import { createRequire } from 'node:module'
import { dirname } from 'node:path'

/** The folder of this package. It is found by name, which works in the source tree and in the build output. */
export function packageFolder(): string {
  return dirname(createRequire(import.meta.url).resolve('toolwright/package.json'))
}
