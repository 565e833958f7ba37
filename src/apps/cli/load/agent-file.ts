import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import { type Agent, subAgentsOf } from '../../../engine/agent/agents/agent.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import { LoopAgent, ParallelAgent, SequentialAgent } from '../../../engine/agent/agents/workflow.ts'
import { Runner } from '../../../engine/runner/runner.ts'
import { findCompiler, missingCompilerError } from '../../infer/compiler/find-compiler.ts'
import { type InferHookOptions, installInferHooks } from '../../infer/node-hooks.ts'
import type { Authenticate } from '../../server/principal/principal.ts'
import type { LiveAppOptions } from '../../server/server-options.ts'
import { describeImportError } from './import-error.ts'

/** The exports of an agent file. */
export interface AgentFile {
  /** The agent, or a runner for it. */
  readonly root: Agent | Runner
  /** Example messages that show what the agent can do. */
  readonly tour: readonly string[]
  /** The live model of the agent and its options: `export const live = { model }`. The server uses it. */
  readonly live?: LiveAppOptions | undefined
  /** Finds out who sends a request to the server: `export function authenticate(request) {}`. */
  readonly authenticate?: Authenticate | undefined
}

/** Loads an agent file: `export default` an Agent or a Runner, or `export const rootAgent`. */
export async function loadAgentFile(
  file: string,
  { onFile }: Pick<InferHookOptions, 'onFile'> = {},
): Promise<AgentFile> {
  const path = resolve(file)
  const found = await stat(path).catch(() => undefined)
  if (!found)
    throw new ToolwrightError(
      'NOT_FOUND',
      `Agent file "${file}" does not exist. Check the path; a relative path starts at the current directory.`,
    )
  if (!found.isFile()) throw invalid(`"${file}" is not a file. Pass the agent file, e.g. ${file}/agent.ts.`)
  // plain functions in the file and in its imports can be tools; without a compiler, written schemas still work
  installInferHooks({ requireCompiler: false, onFile })
  let module: unknown
  try {
    module = await import(pathToFileURL(path).href)
  } catch (error) {
    // an imported file that is missing was not loaded
    if (isRecord(error) && typeof error.url === 'string' && error.url.startsWith('file:'))
      onFile?.(fileURLToPath(error.url))
    if (error instanceof ToolwrightError && error.code === 'NEEDS_INFER' && !findCompiler(process.cwd()))
      throw missingCompilerError(process.cwd())
    throw invalid(describeImportError(file, path, error), error)
  }
  try {
    return readAgentExports(file, module as JsonObject)
  } catch (error) {
    if (error instanceof ToolwrightError) throw error
    throw invalid(`Cannot read the exports of "${file}": ${messageOf(error)}`, error) // a getter or a proxy threw
  }
}

/** Finds the agent, the tour and the options of the server in the exports of a file. */
export function readAgentExports(file: string, exports: JsonObject): AgentFile {
  const root = exports.default ?? exports.rootAgent
  if (root === undefined || root === null)
    throw invalid(`"${file}" exports no agent. Write \`export default agent\` or \`export const rootAgent = agent\`.`)
  if (!(root instanceof Runner)) {
    if (looksLikeRunner(root)) throw otherCopyError(file, 'a Runner')
    if (!isAgent(root))
      throw invalid(
        `"${file}" must export an Agent or a Runner, got ${describeExport(root)}. Export the result of \`new LlmAgent({ ... })\`.`,
      )
    const foreign = findForeignAgent(root)
    if (foreign) throw otherCopyError(file, `agent "${foreign.name}"`)
  }
  return {
    root,
    tour: readTour(file, exports.tour),
    live: readLive(file, exports.live),
    authenticate: readAuthenticate(file, exports.authenticate),
  }
}

function readTour(file: string, tour: unknown): readonly string[] {
  if (tour === undefined) return []
  if (Array.isArray(tour) && tour.every((message) => typeof message === 'string')) return tour
  throw invalid(`The tour of "${file}" must be a list of strings. Write \`export const tour = ['Hello', 'Bye']\`.`)
}

function readLive(file: string, live: unknown): LiveAppOptions | undefined {
  if (live === undefined) return undefined
  if (isRecord(live) && isRecord(live.model) && typeof live.model.connect === 'function')
    return live as object as LiveAppOptions // connectLive() checks the other options
  throw invalid(
    `The export "live" of "${file}" needs a live model. Write \`export const live = { model: geminiLive('...') }\`.`,
  )
}

function readAuthenticate(file: string, authenticate: unknown): Authenticate | undefined {
  if (authenticate === undefined) return undefined
  if (typeof authenticate === 'function') return authenticate as Authenticate // the server checks what it returns
  throw invalid(
    `The export "authenticate" of "${file}" must be a function, got ${describeExport(authenticate)}. It takes a Request and returns { userId } or undefined.`,
  )
}

function isAgent(value: unknown): value is Agent {
  return isRecord(value) && typeof value.name === 'string' && typeof value.run === 'function'
}

function looksLikeRunner(value: unknown): boolean {
  const methods = ['run', 'complete', 'resume', 'close']
  return isRecord(value) && isAgent(value.agent) && methods.every((name) => typeof value[name] === 'function')
}

const packageClasses = new Map<string, abstract new (...args: never) => Agent>(
  Object.entries({ LlmAgent, SequentialAgent, ParallelAgent, LoopAgent }),
)

/** Finds an agent whose class comes from another copy of the package, which this copy's runner cannot run. */
function findForeignAgent(agent: Agent, above: readonly Agent[] = []): Agent | undefined {
  if (above.includes(agent)) return undefined // a cycle, which the runner reports
  const ownClass = packageClasses.get(agent.constructor?.name)
  if (ownClass && !(agent instanceof ownClass)) return agent
  for (const child of subAgentsOf(agent)) {
    const found = findForeignAgent(child, [...above, agent])
    if (found) return found
  }
  return undefined
}

function otherCopyError(file: string, what: string): ToolwrightError {
  return invalid(
    `"${file}" exports ${what} built with another copy of the package "toolwright". Use the command of that copy: npx toolwright run ${file}`,
  )
}

function describeExport(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object without `name` and `run`' : `a ${typeof value}`
}

function invalid(message: string, cause?: unknown): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', message, { cause })
}
