import { ToolwrightError } from '../../../core/error/error.ts'
import type { CodeResult } from '../../../engine/tool/code-executor.ts'
import { nodeToolClient } from '../tool-calls/node-tool-client.ts'
import { pythonToolClient } from '../tool-calls/python-tool-client.ts'

/** Languages with a built-in command: `python` runs `python3`, `javascript` this Node.js, `bash` bash. */
export type PresetName = 'python' | 'javascript' | 'bash'

/**
 * The languages an executor runs: preset names, or a command for each language name. `{file}` in a command stands for
 * the path of the file with the code. Without `{file}`, the command reads the code from stdin.
 *
 * @example
 * ['python', 'bash']
 * @example
 * { ruby: ['ruby', '{file}'] }
 */
export type Languages = readonly PresetName[] | { readonly [language: string]: readonly string[] }

/** How to start code of one language. */
export interface Interpreter {
  /** Program and arguments, with `{file}` for the path of the code. */
  readonly command: readonly string[]
  /** Name of the file that holds the code. */
  readonly file: string
  /** Makes the agent's tools callable: a file beside the code, and the arguments that load it. */
  readonly toolClient?: { readonly file: string; readonly text: string; readonly args: readonly string[] } | undefined
  /**
   * Address space the engine reserves without using it. The limit on address space must allow it, so an argument limits
   * the memory that is really used.
   */
  readonly reservedMemory?: { readonly bytes: number; limitArgument(memoryBytes: number): string } | undefined
  /** The program is Python, which reports the folders of its own libraries. */
  readonly isPython?: boolean | undefined
}

const presets: Readonly<Record<PresetName, Interpreter>> = {
  python: {
    command: ['python3', '{file}'],
    file: 'main.py',
    toolClient: { file: 'tools.py', text: pythonToolClient, args: [] },
    isPython: true,
  },
  javascript: {
    command: ['node', '{file}'],
    file: 'main.mjs',
    toolClient: { file: 'tools.mjs', text: nodeToolClient, args: ['--import', '{folder}/tools.mjs'] },
    reservedMemory: {
      bytes: 1_500_000_000,
      limitArgument: (bytes) => `--max-old-space-size=${Math.ceil(bytes / 1e6)}`,
    },
  },
  bash: { command: ['bash', '{file}'], file: 'main.sh' },
}

/** Turns the `languages` option into an interpreter for each language. Throws on an unknown preset or an invalid command. */
export function resolveInterpreters(languages: Languages): ReadonlyMap<string, Interpreter> {
  const interpreters: readonly (readonly [string, Interpreter])[] = isPresetNames(languages)
    ? languages.map((name) => [name, findPreset(name)])
    : Object.entries(languages).map(([name, command]) => [name.toLowerCase(), { command, file: 'main' }])
  if (interpreters.length === 0) {
    throw new ToolwrightError('INVALID_CONFIG', 'languages is empty. Name at least one, for example ["python"].')
  }
  for (const [name, { command }] of interpreters) {
    if (Array.isArray(command) && command.length > 0 && command.every((word) => typeof word === 'string')) continue
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `languages: the command of "${name}" must be a non-empty array of strings, for example ["ruby", "{file}"].`,
    )
  }
  return new Map(interpreters)
}

const isPresetNames = (languages: Languages): languages is readonly PresetName[] => Array.isArray(languages)

function findPreset(name: PresetName): Interpreter {
  if (Object.hasOwn(presets, name)) return presets[name]
  const known = Object.keys(presets).join(', ')
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `languages: "${String(name)}" is not a preset (${known}). Give its command instead, for example { ruby: ["ruby", "{file}"] }.`,
  )
}

/** Other names that models use for the presets. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['js', 'javascript'],
  ['mjs', 'javascript'],
  ['node', 'javascript'],
  ['nodejs', 'javascript'],
  ['ecmascript', 'javascript'],
  ['py', 'python'],
  ['python3', 'python'],
  ['sh', 'bash'],
  ['shell', 'bash'],
])

/** Finds the language a model asked for. Returns the first known language when the model names none. */
export function matchLanguage(asked: string, known: readonly string[]): string | undefined {
  const name = asked.trim().toLowerCase()
  if (name === '' || name === 'language_unspecified') return known[0]
  return [name, aliases.get(name)].find((one) => one !== undefined && known.includes(one))
}

/** The result for a language the executor does not run. The model can correct it, so this is not an error. */
export function unknownLanguageResult(asked: string, known: readonly string[]): CodeResult {
  return {
    outcome: 'FAILED',
    output: `Cannot run ${JSON.stringify(asked)} code. Supported languages: ${known.join(', ')}.`,
  }
}
