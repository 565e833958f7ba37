import { ToolwrightError } from '../../error/error.ts'
import type { CodeResult } from '../../tool/code-executor.ts'
import { nodeTools } from '../tool-calls/node-tools.ts'
import { pythonTools } from '../tool-calls/python-tools.ts'

/** Languages whose commands are known here. */
export type PresetName = 'python' | 'javascript' | 'bash'

/**
 * What can be run: names of presets, or a command for each language. `{file}` in a command is the file the code is in;
 * without it the code is on stdin.
 */
export type Languages = readonly PresetName[] | { readonly [language: string]: readonly string[] }

/** How code of one language is started. */
export interface Program {
  readonly command: readonly string[]
  /** The name of the file the code is in. */
  readonly file: string
  /** What makes the agent's tools callable: a file beside the code, and what the command gets for it. */
  readonly tools?: { readonly file: string; readonly text: string; readonly args: readonly string[] } | undefined
  /** Address space its engine reserves and never fills, so that it takes a word to it to limit its memory. */
  readonly reserves?: { readonly bytes: number; limit(memoryBytes: number): string } | undefined
  /** It is Python: where its libraries are is asked of itself. */
  readonly isPython?: boolean | undefined
}

const presets: Readonly<Record<PresetName, Program>> = {
  python: {
    command: ['python3', '{file}'],
    file: 'main.py',
    tools: { file: 'tools.py', text: pythonTools, args: [] }, // beside the code is where Python looks first
    isPython: true,
  },
  javascript: {
    command: ['node', '{file}'],
    file: 'main.mjs',
    tools: { file: 'tools.mjs', text: nodeTools, args: ['--import', '{folder}/tools.mjs'] },
    reserves: { bytes: 1_500_000_000, limit: (bytes) => `--max-old-space-size=${Math.ceil(bytes / 1e6)}` },
  },
  bash: { command: ['bash', '{file}'], file: 'main.sh' },
}

export function programsOf(languages: Languages): ReadonlyMap<string, Program> {
  const given: readonly (readonly [string, Program])[] = isNames(languages)
    ? languages.map((name) => [name, preset(name)])
    : Object.entries(languages).map(([name, command]) => [name.toLowerCase(), { command, file: 'main' }])
  if (given.length === 0) throw new ToolwrightError('INVALID_CONFIG', 'languages is empty: name one, as in ["python"].')
  for (const [name, { command }] of given) {
    if (Array.isArray(command) && command.length > 0 && command.every((word) => typeof word === 'string')) continue
    throw new ToolwrightError('INVALID_CONFIG', `The command of ${name} must be a list of words, as in ["ruby", "-"].`)
  }
  return new Map(given)
}

const isNames = (languages: Languages): languages is readonly PresetName[] => Array.isArray(languages)

function preset(name: PresetName): Program {
  if (Object.hasOwn(presets, name)) return presets[name]
  const known = Object.keys(presets).join(', ')
  throw new ToolwrightError('INVALID_CONFIG', `"${String(name)}" is no preset (${known}). Give its command instead.`)
}

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

/** The language a model means; the first one when it names none. */
export function languageOf(asked: string, known: readonly string[]): string | undefined {
  const name = asked.trim().toLowerCase()
  if (name === '' || name === 'language_unspecified') return known[0]
  return [name, aliases.get(name)].find((one) => one !== undefined && known.includes(one))
}

/** The model named a language that is not there: its business, not the executor's. */
export function unknownLanguage(asked: string, known: readonly string[]): CodeResult {
  return { outcome: 'FAILED', output: `${JSON.stringify(asked)} cannot be run here, only: ${known.join(', ')}.` }
}
