import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Agent, subAgentsOf } from '../agent/agents/agent.ts'
import { LlmAgent } from '../agent/agents/llm-agent.ts'
import { LoopAgent, ParallelAgent, SequentialAgent } from '../agent/agents/workflow.ts'
import { isRecord, type JsonObject } from '../base/json.ts'
import { messageOf, ToolwrightError } from '../error/error.ts'
import { Runner } from '../runner/runner.ts'

/** What an agent file holds: an agent, or a runner with one; and messages that show what it can do. */
export interface AgentFile {
  readonly root: Agent | Runner
  readonly tour: readonly string[]
}

/** Loads an agent file: `export default` an Agent or a Runner, or `export const rootAgent`. */
export async function load(file: string): Promise<AgentFile> {
  const path = resolve(file)
  const found = await stat(path).catch(() => undefined)
  if (!found) throw new ToolwrightError('NOT_FOUND', `There is no file "${file}".`)
  if (!found.isFile()) throw invalid(`"${file}" is no file. Name the agent file, e.g. ${file}/agent.ts.`)
  let module: unknown
  try {
    module = await import(pathToFileURL(path).href)
  } catch (error) {
    throw invalid(whyNotLoaded(file, path, error), error)
  }
  try {
    return readModule(file, module as JsonObject)
  } catch (error) {
    if (error instanceof ToolwrightError) throw error
    throw invalid(`What "${file}" exports cannot be read: ${messageOf(error)}`, error) // by a getter or a proxy
  }
}

/** Finds the agent among the exports of a file. */
export function readModule(file: string, exports: JsonObject): AgentFile {
  const root = exports.default ?? exports.rootAgent
  if (root === undefined || root === null)
    throw invalid(`"${file}" exports no agent. Write \`export default agent\` or \`export const rootAgent = agent\`.`)
  if (!(root instanceof Runner)) {
    if (looksLikeRunner(root)) throw ofAnotherCopy(file, 'a Runner')
    if (!isAgent(root))
      throw invalid(
        `"${file}" exports ${nameOf(root)} where an Agent or a Runner should be. Export what \`new LlmAgent({ ... })\` made.`,
      )
    const foreign = foreignAgent(root)
    if (foreign) throw ofAnotherCopy(file, `agent "${foreign.name}"`)
  }
  return { root, tour: readTour(file, exports.tour) }
}

function readTour(file: string, tour: unknown): readonly string[] {
  if (tour === undefined) return []
  if (Array.isArray(tour) && tour.every((message) => typeof message === 'string')) return tour
  throw invalid(`The tour of "${file}" is no list of messages. Write \`export const tour = ['Hello', 'Bye']\`.`)
}

/** Node's own words, where it happened, and what to do. */
function whyNotLoaded(file: string, path: string, error: unknown): string {
  const code = isRecord(error) ? error.code : undefined
  const message = messageOf(error)
  if (!(error instanceof SyntaxError)) {
    return `"${file}" could not be loaded: ${message}${placeOf(error, path)}${adviceOn(code, message)}`
  }
  const advice =
    code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX'
      ? '\nNode runs TypeScript by removing the types, so what makes code (enum, namespace, parameter properties) cannot be used. Write it as plain JavaScript (an object instead of an enum), or compile the file first; "erasableSyntaxOnly" in tsconfig.json finds such places.'
      : message.includes('does not provide an export named')
        ? '\nIf it is a type, import it with `import type`.'
        : /Cannot use import statement|Unexpected token 'export'|await is only valid/.test(message)
          ? '\nNode takes the file for CommonJS, because the nearest package.json says "type": "commonjs" (npm init writes it). Rename the file to end in .mts, or write "type": "module" there.'
          : ''
  return `"${file}" could not be loaded: ${message}\n${excerptOf(error)}${advice}`
}

function adviceOn(code: unknown, message: string): string {
  if (code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING')
    return '\nNode runs no TypeScript inside node_modules. Copy the file into your own folder and run the copy.'
  if (code !== 'ERR_MODULE_NOT_FOUND') return ''
  const name = /Cannot find package '([^']+)'/.exec(message)?.[1]
  return name ? `\nInstall it: npm install ${name}` : '\nImports of files need their extension, e.g. "./tools.ts".'
}

/** The line of the file and a mark below it: what Node puts before the message. */
function excerptOf({ stack = '' }: Error): string {
  const end = stack.search(/\n+SyntaxError/)
  return end > 0 ? stack.slice(0, end) : ''
}

function placeOf(error: unknown, path: string): string {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const frame = stack.split('\n').find((line) => line.trimStart().startsWith('at ') && line.includes(path))
  const place = frame?.slice(frame.indexOf(path) + path.length).match(/^:(\d+)/)?.[1]
  return place ? ` (line ${place})` : ''
}

function isAgent(value: unknown): value is Agent {
  return isRecord(value) && typeof value.name === 'string' && typeof value.run === 'function'
}

function looksLikeRunner(value: unknown): boolean {
  const methods = ['run', 'complete', 'resume', 'close']
  return isRecord(value) && isAgent(value.agent) && methods.every((name) => typeof value[name] === 'function')
}

const ours = new Map<string, abstract new (...args: never) => Agent>(
  Object.entries({ LlmAgent, SequentialAgent, ParallelAgent, LoopAgent }),
)

/** An agent made by a class of ours that is not the one in this process: it would not know its way in this runner. */
function foreignAgent(agent: Agent, above: readonly Agent[] = []): Agent | undefined {
  if (above.includes(agent)) return undefined // a circle; the runner says so
  const mine = ours.get(agent.constructor?.name)
  if (mine && !(agent instanceof mine)) return agent
  for (const child of subAgentsOf(agent)) {
    const found = foreignAgent(child, [...above, agent])
    if (found) return found
  }
  return undefined
}

function ofAnotherCopy(file: string, what: string): ToolwrightError {
  return invalid(
    `"${file}" exports ${what} built with another copy of the package "toolwright" than this command's. Use the command of the same installation: npx toolwright run ${file}`,
  )
}

function nameOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object without name and run' : `a ${typeof value}`
}

function invalid(message: string, cause?: unknown): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', message, { cause })
}
