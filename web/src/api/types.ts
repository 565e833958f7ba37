import type { JsonObject } from '../../../src/core/base/json.ts'
import type { FunctionDeclaration } from '../../../src/core/content/content.ts'
import type { Event } from '../../../src/core/event/event.ts'

/** Names a session. */
export interface SessionKey {
  /** The app of the session. */
  readonly app: string
  /** The user of the session. */
  readonly userId: string
  /** The id of the session. */
  readonly sessionId: string
}

/** A session as the server sends it. Lists have no events. */
export interface WireSession {
  /** The id of the session. */
  readonly id: string
  /** The app of the session. */
  readonly appName: string
  /** The user of the session. */
  readonly userId: string
  /** The state of the session. */
  readonly state: JsonObject
  /** The events of the session. */
  readonly events: readonly Event[]
  /** Seconds since the epoch. */
  readonly lastUpdateTime: number
}

/** How the last run of a session went. `new`: nothing has run. */
export type RunState = 'running' | 'waiting' | 'failed' | 'cancelled' | 'completed' | 'new'

/** A session in a list. */
export interface SessionItem {
  /** The user. */
  readonly userId: string
  /** The id of the session. */
  readonly id: string
  /** The name that a user has given it. */
  readonly name?: string
  /** The start of its first message. */
  readonly firstMessage?: string
  /** How its last run went. */
  readonly state: RunState
  /** Seconds since the epoch. */
  readonly lastUpdateTime: number
  /** What the agents of a what-if copy do differently. */
  readonly whatIf?: unknown
  /** The text that was found. */
  readonly match?: string
}

/** What a search looks for. Empty texts find everything. */
export interface SessionFilter {
  /** A part of a message, a name or an id. */
  readonly text: string
  /** A part of the name of a tool that was called. */
  readonly tool: string
  /** How the last run went. */
  readonly state: RunState | ''
  /** The first day of the last change, such as `2026-11-19`. */
  readonly since: string
  /** The last day of the last change. */
  readonly until: string
  /** Searches the sessions of all users. */
  readonly allUsers: boolean
}

/** One app of the server. */
export interface AppInfo {
  /** The name of the app. */
  readonly name: string
  /** The name of its root agent. */
  readonly rootAgent: string
  /** What the root agent does. */
  readonly description?: string
  /** Example messages. */
  readonly tour: readonly string[]
  /** Does the app have live sessions? */
  readonly hasLive: boolean
  /** The agent file, as a file beside it imports it; undefined if the server found none. */
  readonly file?: string
}

/** The server and its apps. */
export interface ServerInfo {
  /** The version of Toolwright. */
  readonly version?: string
  /** Who this page is. */
  readonly userId: string
  /** May this page act as any user? */
  readonly mayActAsAnyUser: boolean
  /** The apps. */
  readonly apps: readonly AppInfo[]
}

/** A tool of an agent, for the tool bench. */
export interface ToolInfo {
  /** The name of the tool. */
  readonly name: string
  /** What the tool does. */
  readonly description: string
  /** The tool as the model gets it. */
  readonly declaration?: FunctionDeclaration
  /** What a repeated call does. */
  readonly effect: string
  /** Does its result come later? */
  readonly isLongRunning: boolean
  /** Does it need an approval? */
  readonly needsConfirmation: 'always' | 'sometimes' | 'never'
  /** Does it need a credential? */
  readonly hasAuth: boolean
  /** The toolset that lists it; undefined if the agent has it itself. */
  readonly toolset?: string
}

/** A tool or a toolset of an agent. */
export interface GraphTool {
  /** The name. */
  readonly name: string
  /** The kind of tool, such as `AgentTool`. */
  readonly type: string
  /** The agent that an agent tool calls. */
  readonly agent?: GraphAgent
}

/** An agent of the tree, as `build_graph` sends it. */
export interface GraphAgent {
  /** The name of the agent. */
  readonly name: string
  /** The kind of agent, such as `LlmAgent`. */
  readonly type: string
  /** What the agent does. */
  readonly description?: string
  /** The name of its model. */
  readonly model?: string
  /** Its tools. */
  readonly tools?: readonly GraphTool[]
  /** Its children. */
  readonly sub_agents?: readonly GraphAgent[]
}
