import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { TracedFunction, TraceStep } from './hook.ts'

/** What happens between the start and the end of a traced program. */
export interface CallPath {
  /** The files of src/ whose functions ran. */
  readonly files: readonly string[]
  /** Pairs of functions in different folders, of which one called the other. */
  readonly crossings: readonly string[]
  /** How often `next()` ran. */
  readonly nextCalls: number
}

/**
 * Runs a traced program. The folders `base` and `error` are left out: their functions are helpers, not steps of a call.
 */
export function traceProgram(program: 'one-call' | 'resumed-approval'): CallPath {
  const fileOf = (name: string): string => fileURLToPath(new URL(`./${name}.ts`, import.meta.url))
  const options = ['--conditions=toolwright:source', '--import', new URL('./hook.ts', import.meta.url).href]
  const output = execFileSync(process.execPath, [...options, fileOf(program)], { encoding: 'utf8', maxBuffer: 1e8 })
  const steps: readonly TraceStep[] = JSON.parse(output)
  const own = steps.filter(({ entered }) => isStep(entered))
  const files = new Set(own.map(({ entered }) => entered.file))
  const crossings = new Set(
    own.flatMap(({ entered, caller }) =>
      caller && isStep(caller) && folderOf(caller) !== folderOf(entered)
        ? [`${label(caller)} -> ${label(entered)}`]
        : [],
    ),
  )
  const nextCalls = own.filter(({ entered }) => entered.name === 'next' && entered.file.endsWith('/next.ts')).length
  return { files: [...files].sort(), crossings: [...crossings].sort(), nextCalls }
}

function isStep(one: TracedFunction): boolean {
  return folderOf(one) !== 'base' && folderOf(one) !== 'error'
}

function folderOf({ file }: TracedFunction): string {
  return file.split('/')[0] ?? ''
}

function label({ file, name }: TracedFunction): string {
  return `${file}:${name}`
}
