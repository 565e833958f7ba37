// What was recorded of a conversation: its log, and what a replay compares besides the log.
import type { JsonObject } from '../../../core/base/json.ts'
import { isRecord } from '../../../core/base/json.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { NewEntry } from '../../../core/event/event.ts'
import type { Model } from '../../../engine/model/model.ts'

/** The version of recordings that this version of the package writes and reads. */
export const RECORDING_VERSION = 1

/** A recorded conversation. */
export interface Recording {
  /** The version of the format. */
  readonly version: number
  /** The app of the session. */
  readonly appName: string
  /** The user of the session. */
  readonly userId: string
  /** The id of the session. */
  readonly sessionId: string
  /** The state that the session started with. */
  readonly state: JsonObject
  /** The log, records included. */
  readonly entries: readonly NewEntry[]
  /** The models, by agent: requests are built for what a model supports. */
  readonly models: { readonly [agent: string]: RecordedModel }
  /** The tools that remote toolsets listed, by toolset: a replay asks no server. */
  readonly toolsets: { readonly [toolset: string]: readonly RecordedTool[] }
  /** The hashes of the declarations that models saw, by tool. Recordings of earlier versions have none. */
  readonly declarations?: { readonly [tool: string]: string }
  /** What was done, in order: model requests and bodies. */
  readonly steps: readonly RecordedStep[]
}

/** A model as requests depend on it. */
export interface RecordedModel {
  /** The name of the model. */
  readonly name: string
  /** What it supports. */
  readonly capabilities?: NonNullable<Model['capabilities']>
}

/** A tool of a remote toolset. */
export interface RecordedTool {
  /** The name. */
  readonly name: string
  /** The description. */
  readonly description: string
  /** The JSON Schema of the arguments. */
  readonly parameters?: JsonObject
  /** Its side effects. */
  readonly effect?: 'none' | 'idempotent' | 'reconcilable' | 'atMostOnce'
  /** Does its result come later? */
  readonly isLongRunning?: true
}

/** A model request, or a body that was started. */
export type RecordedStep = RequestStep | BodyStep

/** A body that was started. */
export interface BodyStep {
  /** The scope path. */
  readonly scope: string
  /** The id of the call. */
  readonly body: string
  /** The tool. */
  readonly tool: string
  /** How many other bodies of the scope ran. Recordings of earlier versions do not say. */
  readonly beside?: number
}

/** A model request as hashes: what the model saw, without its text. */
export interface RequestStep {
  /** The scope path. */
  readonly scope: string
  /** The hash of the system instruction. */
  readonly instruction: string
  /** The hash of the declared tools. */
  readonly tools: string
  /** How many contents are those of the request before it in the scope. */
  readonly kept: number
  /** The hashes of the other contents. */
  readonly contents: readonly string[]
}

/** The model of an agent in a recording. Undefined if it has none. */
export function recordedModel({ models }: Recording, agent: string): RecordedModel | undefined {
  return Object.hasOwn(models, agent) ? models[agent] : undefined
}

/** The tools of a toolset in a recording. Undefined if it has none. */
export function recordedToolset({ toolsets }: Recording, name: string): readonly RecordedTool[] | undefined {
  return Object.hasOwn(toolsets, name) ? toolsets[name] : undefined
}

/** Checks what a file has as the recording of a case. `what` names the case. Throws INVALID_CONFIG with what to do. */
export function checkRecording(value: unknown, what: string): Recording {
  const problem = problemOf(value)
  if (problem === undefined) return value as Recording // the members that are read are checked
  const advice = 'Record the case again: toolwright eval record <session>'
  throw new ToolwrightError('INVALID_CONFIG', `The recording of ${what} ${problem}. ${advice}.`)
}

function problemOf(value: unknown): string | undefined {
  if (!isRecord(value)) return 'is no object'
  const { version, entries, steps, state, models, toolsets } = value
  if (version !== RECORDING_VERSION)
    return `has version ${JSON.stringify(version ?? null)}, and this version of toolwright reads version ${RECORDING_VERSION}`
  if (!Array.isArray(entries) || !entries.every(isEntry)) return 'has no valid list of entries'
  if (!Array.isArray(steps) || !steps.every(isStep)) return 'has no valid list of steps'
  if (!isRecord(state) || !isRecord(models) || !isRecord(toolsets)) return 'has no state, models or toolsets'
  if (!Object.values(models).every(isNamed)) return 'has a model without a name'
  if (!Object.values(toolsets).every((tools) => Array.isArray(tools) && tools.every(isTool)))
    return 'has a toolset that is no list of tools'
  const names = [value.appName, value.userId, value.sessionId]
  return names.every((name) => typeof name === 'string' && name !== '') ? undefined : 'names no session'
}

function isEntry(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { event, record } = value
  if (!isRecord(event)) return isRecord(record) && typeof record.type === 'string'
  return typeof event.id === 'string' && typeof event.author === 'string' && typeof event.invocationId === 'string'
}

function isStep(value: unknown): boolean {
  if (!isRecord(value) || typeof value.scope !== 'string') return false
  return typeof value.body === 'string' || (typeof value.kept === 'number' && Array.isArray(value.contents))
}

function isNamed(value: unknown): value is JsonObject {
  return isRecord(value) && typeof value.name === 'string' && value.name !== ''
}

function isTool(value: unknown): boolean {
  return isNamed(value) && typeof value.description === 'string'
}
