// The entry points of the package. "exports" in package.json is the one list of them: the build and the tests read it here.
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'

/** One entry point of the package. All paths are relative to the repository. */
export interface EntryPoint {
  /** The specifier that users import: `toolwright/sqlite`. For files without one, a name. */
  readonly specifier: string
  /** Its folder in `dist`, and in a ring of `src`: `sqlite`. Empty for the root entry point. */
  readonly folder: string
  /** Its source: `src/apps/sqlite/index.ts`. */
  readonly source: string
  /** The file that users load: `dist/sqlite/index.js`. */
  readonly output: string
}

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly bin: Readonly<Record<string, string>>
}

/** The entry points that users import, in the order of package.json. */
export function entryPoints(): EntryPoint[] {
  const { name, exports } = manifest()
  return Object.entries(exports).flatMap(([path, target]) => {
    const source = typeof target === 'string' ? undefined : target['toolwright:source']
    return source === undefined ? [] : entryPoint(posix.join(name, path), source)
  })
}

/** The files that package.json names as commands. */
export function commands(): EntryPoint[] {
  return Object.entries(manifest().bin).map(([name, output]) =>
    entryPoint(name, output.replace('/dist/', '/src/apps/').replace(/\.js$/, '.ts')),
  )
}

/** The files that other programs load by their path, so that each stays a file of its own. */
export function loadedByPath(): EntryPoint[] {
  return [entryPoint('the loader of toolwright/infer for webpack and rspack', 'src/apps/infer/plugins/loader.ts')]
}

/** From each specifier to its source file. */
export function sourceBySpecifier(): Map<string, string> {
  return new Map(entryPoints().map(({ specifier, source }) => [specifier, source]))
}

function entryPoint(specifier: string, path: string): EntryPoint {
  const source = posix.normalize(path)
  const published = posix.relative('src', source).replace(/^[\w-]+\//, '') // without its ring
  const folder = posix.dirname(published)
  const output = posix.join('dist', published.replace(/\.ts$/, '.js'))
  return { specifier, folder: folder === '.' ? '' : folder, source, output }
}

function manifest(): Manifest {
  return JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'))
}
