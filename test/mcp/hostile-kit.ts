// Runs an agent with the tools of the hostile server, as users do: through a runner and a scripted model.
import { fileURLToPath } from 'node:url'
import {
  type Completion,
  type FunctionResponse,
  type JsonObject,
  LlmAgent,
  Runner,
  type RunnerOptions,
  type Tool,
} from 'toolwright'
import { McpToolset, type McpToolsetOptions } from 'toolwright/mcp'
import { type ScriptedModel, type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { type Call, declarationsOf, plainTool, recordingLogger, responsesOf } from '../scenarios/kit.ts'
import { behaviours } from './hostile/behaviours.ts'
import { type HostileHttpServer, type HttpBehaviour, startHttp } from './hostile/http-server.ts'

const PROGRAM = fileURLToPath(new URL('./hostile/server.ts', import.meta.url))

/** The connection to a hostile server that the toolset starts. */
export function hostileProcess(
  behaviour: string,
  env: Record<string, string> = {},
): { type: 'stdio'; command: string; args: string[]; env: Record<string, string> } {
  return { type: 'stdio', command: process.execPath, args: [PROGRAM, behaviour], env }
}

/** An agent with the tools of one server, and one tool of its own, `own`. */
export interface Meeting extends AsyncDisposable {
  readonly toolset: McpToolset
  readonly runner: Runner
  readonly model: ScriptedModel
  /** What the toolset and the runner have logged. */
  readonly lines: readonly string[]
  /** Sends a message to the agent. The session is the same for all messages of one user. */
  send(message?: Parameters<Runner['complete']>[0]['message'], userId?: string): Promise<Completion>
}

export interface MeetingOptions {
  readonly connection: McpToolsetOptions['connection']
  readonly options?: Partial<McpToolsetOptions>
  readonly runner?: Partial<RunnerOptions>
  readonly tools?: readonly Tool[]
  /** The replies of the model. */
  readonly steps: readonly ScriptedStep[]
}

/** Creates an agent with the tools of a server. */
export function meet({ connection, options, runner: more, tools = [], steps }: MeetingOptions): Meeting {
  const { lines, ...logger } = recordingLogger()
  const toolset = new McpToolset({ name: 'hostile', connection, logger, ...options })
  const model = scriptedModel(steps)
  const own = plainTool('own', () => 'mine')
  const agent = new LlmAgent({ name: 'agent', model, tools: [own, toolset, ...tools] })
  const runner = new Runner({ appName: 'app', agent, logger, ...more })
  return {
    toolset,
    runner,
    model,
    lines,
    send: (message = 'go', userId = 'ada') => runner.complete({ userId, sessionId: `s-${userId}`, message }),
    [Symbol.asyncDispose]: () => runner.close(),
  }
}

/** What came of one reply of the model. */
export interface Outcome {
  readonly responses: readonly FunctionResponse[]
  /** The response to the first call. */
  readonly response: JsonObject
  /** The tools that the model was offered, without `own`. */
  readonly offered: readonly string[]
  readonly lines: readonly string[]
  readonly model: ScriptedModel
  readonly completion: Completion
}

/** Calls tools once, `own` after them, and closes the runner. Fails if the server kept `own` from working. */
export async function callOnce(options: Omit<MeetingOptions, 'steps'> & { calls: readonly Call[] }): Promise<Outcome> {
  await using meeting = meet({ ...options, steps: [{ calls: [...options.calls, { name: 'own' }] }, 'done'] })
  const completion = await meeting.send()
  const responses = responsesOf(completion.events)
  if (completion.pending.length === 0 && responses.find(({ name }) => name === 'own')?.response.result !== 'mine')
    throw new Error('The own tool of the agent did not work.')
  return {
    responses,
    response: responses.find(({ name }) => name === options.calls[0]?.name)?.response ?? {},
    offered: offered(meeting.model),
    lines: meeting.lines,
    model: meeting.model,
    completion,
  }
}

/** The names of the tools of the server that the model was offered. */
export function offered(model: ScriptedModel, request = 0): string[] {
  return declarationsOf(model, request)
    .map(({ name }) => name)
    .filter((name) => name !== 'own')
}

/** Starts a behaviour over HTTP, in this process. */
export async function hostileHttp(
  behaviour: string | HttpBehaviour,
  options?: Parameters<typeof startHttp>[1],
): Promise<HostileHttpServer & { readonly connection: { type: 'http' | 'sse'; url: string } }> {
  const chosen = typeof behaviour === 'string' ? behaviours[behaviour] : behaviour
  if (!chosen) throw new Error(`There is no behaviour "${behaviour}".`)
  const server = await startHttp(chosen, options)
  return Object.assign(server, { connection: { type: options?.kind ?? 'http', url: server.url } })
}
