import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { EnteredFunction } from './hook.ts'

/** What happens between the start and the end of a traced program. */
export interface Walk {
  /** Every function with a block body, each time it is entered. */
  readonly entered: readonly EnteredFunction[]
  /** The files of src/ whose functions were entered. */
  readonly files: readonly string[]
  /** The functions that were entered after one of another file. */
  readonly fileHops: readonly EnteredFunction[]
  /** The functions that were entered after one of another folder of src/. */
  readonly folderChanges: readonly EnteredFunction[]
}

/** Helpers and test doubles: their functions are no steps of a walk. */
const LEFT_OUT: ReadonlySet<string> = new Set(['core/base', 'core/error', 'adapters/testing'])

/** Runs a traced program, and counts where its walk through src/ goes. */
export function walk(program: 'one-call' | 'resumed-approval' | 'live-call' | 'http-request'): Walk {
  const path = fileURLToPath(new URL(`./${program}.ts`, import.meta.url))
  const options = ['--conditions=toolwright:source', '--import', new URL('./hook.ts', import.meta.url).href]
  const output = execFileSync(process.execPath, [...options, path], { encoding: 'utf8', maxBuffer: 1e8 })
  const all: readonly EnteredFunction[] = JSON.parse(output)
  const entered = all.filter((one) => !LEFT_OUT.has(folderOf(one)))
  return {
    entered,
    files: [...new Set(entered.map(({ file }) => file))].sort(),
    fileHops: changes(entered, ({ file }) => file),
    folderChanges: changes(entered, folderOf),
  }
}

/** The functions for which `of` differs from the function before. */
function changes(entered: readonly EnteredFunction[], of: (one: EnteredFunction) => string): EnteredFunction[] {
  return entered.filter((one, at) => at > 0 && of(entered[at - 1] as EnteredFunction) !== of(one))
}

const folderOf = ({ file }: EnteredFunction): string => file.split('/').slice(0, 2).join('/')
