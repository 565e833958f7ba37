import type { JsonObject } from '../../../src/core/base/json.ts'
import type { Event } from '../../../src/core/event/event.ts'
import type { MemoryEntry } from '../../../src/services/memory/service.ts'
import { readStream } from './read-stream.ts'
import { pathOf, requestJson } from './request.ts'
import type { GraphAgent, ServerInfo, SessionKey, ToolInfo } from './types.ts'

/** Reads the version of the server and its apps. */
export function getServerInfo(signal?: AbortSignal): Promise<ServerInfo> {
  return requestJson('/dev/info', { signal })
}

/** Reads the agent tree of an app. */
export function getGraph(app: string, signal?: AbortSignal): Promise<{ readonly root_agent: GraphAgent }> {
  return requestJson(`/dev${pathOf('apps', app, 'build_graph')}`, { signal })
}

/** An agent, as its developer wrote it. */
export interface AgentInfo {
  /** The name. */
  readonly name: string
  /** The kind of agent, such as `LlmAgent`. */
  readonly type: string
  /** The name of its own model. */
  readonly model?: string
  /** Its instruction, if it is a text. */
  readonly instruction?: string
}

/** Lists all agents of an app, also those behind tools. */
export async function listAgents(app: string): Promise<readonly AgentInfo[]> {
  return Object.values((await requestJson<{ agents: object }>(`/dev${pathOf('apps', app, 'agents')}`)).agents)
}

/** Lists the tools of an agent, as the given user gets them. */
export function listTools(tool: { app: string; agent: string; userId: string }): Promise<ToolInfo[]> {
  const query = new URLSearchParams({ userId: tool.userId })
  return requestJson(`/dev${pathOf('apps', tool.app, 'agents', tool.agent, 'tools')}?${query}`)
}

/** A call as a test file. */
export interface SavedTest {
  /** The name of the file. */
  readonly name: string
  /** Its text. */
  readonly code: string
}

/** Writes a call of a session as a test. `file` exports the agent. */
export function writeTest(
  { app, userId, sessionId }: SessionKey,
  callId: string,
  options: { readonly file: string; readonly runner: string },
  signal: AbortSignal,
): Promise<SavedTest> {
  const path = pathOf('apps', app, 'users', userId, 'sessions', sessionId, 'calls', callId, 'test')
  return requestJson(`/dev${path}?${new URLSearchParams(options)}`, { signal })
}

/** What a crash test has found out. */
export interface CrashReport {
  /** Is everything true that the tool declares? */
  readonly ok: boolean
  /** All of it, to read. */
  readonly text: string
}

/** Plays crashes around a tool, whose body really runs. `reader`: the tool that shows what has happened. */
export function testCrashes({ app, agent, tool, userId, args }: BenchCall, reader: string): Promise<CrashReport> {
  const path = `/dev${pathOf('apps', app, 'agents', agent, 'tools', tool, 'crash-test')}`
  return requestJson(path, { body: { userId, args, outside: { tool: reader } } })
}

/** A tool call of the tool bench. */
export interface BenchCall {
  /** The app. */
  readonly app: string
  /** The agent that has the tool. */
  readonly agent: string
  /** The name of the tool. */
  readonly tool: string
  /** The user to act as. */
  readonly userId: string
  /** The arguments. */
  readonly args: JsonObject
}

/** Who follows a call of the tool bench. */
export interface BenchCallOptions {
  /** Ends the call. */
  readonly signal: AbortSignal
  /** Called with the session of the call, before its first event. */
  onSession(sessionId: string): void
}

/** Calls one tool through the gates and yields the events of the call. Its session id starts with `bench-`. */
export function callTool(call: BenchCall, { signal, onSession }: BenchCallOptions): AsyncGenerator<Event, void> {
  const { app, agent, tool, userId, args } = call
  const path = `/dev${pathOf('apps', app, 'agents', agent, 'tools', tool, 'call')}`
  const onHeaders = (headers: Headers): void => onSession(headers.get('x-session-id') ?? '')
  return readStream(path, { body: { userId, args }, signal, onHeaders })
}

/** Where a tool threw. */
export interface CallStack {
  /** The id of the call. */
  readonly functionCallId: string
  /** The stack of the error. */
  readonly stack: string
}

/** Reads the stacks of errors that the tools of a session threw lately. */
export async function getStacks({ app, userId, sessionId }: SessionKey): Promise<readonly CallStack[]> {
  const path = `/dev${pathOf('apps', app, 'users', userId, 'sessions', sessionId)}/stacks`
  return (await requestJson<{ stacks: readonly CallStack[] }>(path)).stacks
}

/** Searches the memory of a user. */
export async function searchMemory(app: string, userId: string, query: string): Promise<readonly MemoryEntry[]> {
  const path = `/dev${pathOf('apps', app, 'users', userId, 'memory')}?${new URLSearchParams({ query })}`
  const { memories } = await requestJson<{ memories: readonly MemoryEntry[] }>(path)
  return memories
}

/** Adds a session to the memory of its user. */
export async function addToMemory({ app, userId, sessionId }: SessionKey): Promise<void> {
  await requestJson(pathOf('apps', app, 'users', userId, 'memory'), { method: 'PATCH', body: { sessionId } })
}
