// `context.actions` shows all writes of a tool body or a callback, whichever method made them. A write to it passes the same
// checks as the method.
import { isRecord, type JsonObject } from '../../core/base/json.ts'
import { kindOf } from '../../core/base/kind-of.ts'
import { MAX_NAME_LENGTH } from '../../core/base/limits.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { EventActions } from '../../core/event/event.ts'
import type { Actions } from './context.ts'
import { liveRecord } from './live-record.ts'
import { toStateDelta, type WritableState } from './state.ts'

/** The actions that show the requests of a tool body. */
export type RequestedActions = Pick<Actions, 'requestedToolConfirmations' | 'requestedAuthConfigs' | 'requestedInputs'>

/** The actions that decide how the invocation continues. */
export type ControlActions = Pick<EventActions, 'skipSummarization' | 'transferToAgent' | 'escalate' | 'endOfAgent'>

/** Where `context.actions` reads and writes. */
interface ActionStore {
  /** The state with its writes. */
  readonly state: WritableState
  /** Versions of the saved artifacts. Undefined if there are none. */
  readonly artifactDelta: { readonly [filename: string]: number } | undefined
  /** The control actions that were set. Undefined if there are none. */
  readonly control: ControlActions | undefined
  /** The requests of the tool body. */
  readonly requested: RequestedActions
  /** Is it the context of a tool call? Only callbacks may set `endOfAgent`: a tool cannot end its agent. */
  readonly isCall: boolean
  /** Sets the version of a saved artifact. Undefined removes the artifact from the delta. */
  recordArtifact(filename: string, version: number | undefined): void
  /** Sets a control action. Throws if the value is invalid. */
  setControl(field: keyof ControlActions, value: unknown): void
}

/** Creates the value of `context.actions`. */
export function createActions(store: ActionStore): Actions {
  const stateDelta = liveRecord('stateDelta', {
    read: () => store.state.written,
    write: (key, value) => store.state.set(key, value),
    drop: (key) => store.state.undoSet(key),
  })
  const artifactDelta = liveRecord('artifactDelta', {
    read: () => store.artifactDelta,
    write: (name, version) => store.recordArtifact(name, checkVersion(name, version)),
    drop: (name) => store.recordArtifact(name, undefined),
  })
  const readActions = (): JsonObject => ({
    ...(store.state.written && { stateDelta }),
    ...(store.artifactDelta && { artifactDelta }),
    ...store.requested,
    ...store.control,
  })
  const replace = (delta: JsonObject, field: string, given: unknown): void => {
    if (given !== undefined && given !== null && !isRecord(given)) throw invalidAction(field, 'an object', given)
    const copy = toStateDelta(given ?? {}) // copied first: it may be the delta itself, or a getter in it may throw
    if (field === 'artifactDelta') for (const name of Object.keys(copy)) checkVersion(name, copy[name])
    for (const key of Object.keys(delta)) delete delta[key]
    for (const key of Object.keys(copy)) delta[key] = copy[key]
  }
  const write = (field: string, value: unknown): void => {
    if (field === 'stateDelta') replace(stateDelta, field, value)
    else if (field === 'artifactDelta') replace(artifactDelta, field, value)
    else store.setControl(controlField(field, store.isCall), value)
  }
  const always = { stateDelta, artifactDelta } // as the type of `Actions` promises
  const drop = (field: string): void => write(field, undefined)
  return liveRecord<Actions & JsonObject>('actions', { read: readActions, write, drop, always })
}

/** Checks the value of a control action. Returns undefined if the value clears the action. Throws if it is invalid. */
export function checkControl(field: keyof ControlActions, value: unknown): string | boolean | undefined {
  if (value === undefined || value === null || value === false) return undefined
  if (field !== 'transferToAgent') {
    if (value === true) return true
    throw invalidAction(field, 'true or false', value)
  }
  if (typeof value === 'string' && value !== '' && value.length <= MAX_NAME_LENGTH) return value
  throw invalidAction(field, `the name of an agent of at most ${MAX_NAME_LENGTH} characters`, value)
}

const CONTROL: readonly string[] = ['skipSummarization', 'transferToAgent', 'escalate', 'endOfAgent']

/** Advice for the fields that cannot be written. */
const INSTEAD: { readonly [field: string]: string } = {
  requestedToolConfirmations: 'Call context.requestConfirmation().',
  requestedInputs: 'Call context.requestInput().',
  requestedAuthConfigs: 'Call context.requestCredential().',
}

function controlField(field: string, isCall: boolean): keyof ControlActions {
  if (CONTROL.includes(field) && !(isCall && field === 'endOfAgent')) return field as keyof ControlActions
  const fields = `stateDelta, artifactDelta, ${CONTROL.filter((one) => !isCall || one !== 'endOfAgent').join(', ')}`
  const instead = Object.hasOwn(INSTEAD, field) ? INSTEAD[field] : `Writable fields: ${fields}.`
  throw new ToolwrightError('INVALID_REQUEST', `context.actions.${shortName(field)} cannot be written. ${instead}`)
}

function checkVersion(name: string, version: unknown): number {
  if (name.length > MAX_NAME_LENGTH) {
    const problem = `An artifact name has at most ${MAX_NAME_LENGTH} characters, got ${name.length}`
    throw new ToolwrightError('TOO_LARGE', `${problem}. Use a shorter name.`)
  }
  if (Number.isSafeInteger(version) && Number(version) >= 0) return Number(version)
  throw invalidAction(`artifactDelta[${JSON.stringify(name)}]`, 'a version (a whole number >= 0)', version)
}

function invalidAction(field: string, expected: string, value: unknown): ToolwrightError {
  const problem = `context.actions.${field} must be ${expected}, got ${kindOf(value)}.`
  return new ToolwrightError('INVALID_REQUEST', problem)
}

function shortName(field: string): string {
  return field.length > 64 ? `${field.slice(0, 64)}...` : field
}
