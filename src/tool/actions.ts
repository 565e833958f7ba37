// `context.actions`: one view of what a body or a callback has written. Reading shows every write, however it was made;
// writing goes through the checks of the methods. Made when it is first looked at.
import { copyJson, isRecord, type JsonObject } from '../base/json.ts'
import { kindOf } from '../base/kind-of.ts'
import { MAX_NAME_LENGTH } from '../base/limits.ts'
import { ToolwrightError } from '../error/error.ts'
import type { EventActions } from '../event/event.ts'
import type { Actions } from './context.ts'
import { toStateDelta, type WritableState } from './state.ts'

/** What a call asks a human. */
export type RequestedActions = Pick<Actions, 'requestedToolConfirmations' | 'requestedInputs'>

/** What moves control. */
export type ControlActions = Pick<EventActions, 'skipSummarization' | 'transferToAgent' | 'escalate' | 'endOfAgent'>

/** What the view stands on. */
export interface ActionStore {
  readonly state: WritableState
  readonly artifactDelta: { readonly [filename: string]: number } | undefined
  readonly control: ControlActions | undefined
  readonly requested: RequestedActions
  /** `endOfAgent` is for callbacks: a tool cannot end its agent. */
  readonly isCall: boolean
  recordArtifact(filename: string, version: number | undefined): void
  setControl(field: keyof ControlActions, value: unknown): void
}

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
  const shown = (): JsonObject => ({
    ...(store.state.written && { stateDelta }),
    ...(store.artifactDelta && { artifactDelta }),
    ...store.requested,
    ...store.control,
  })
  const replace = (delta: JsonObject, field: string, given: unknown): void => {
    if (given !== undefined && given !== null && !isRecord(given)) throw mustBe(field, 'an object', given)
    const copy = toStateDelta(given ?? {}) // first: what is given may be the delta itself, or not be readable
    if (field === 'artifactDelta') for (const name of Object.keys(copy)) checkVersion(name, copy[name])
    for (const key of Object.keys(delta)) delete delta[key]
    for (const key of Object.keys(copy)) delta[key] = copy[key]
  }
  const write = (field: string, value: unknown): void => {
    if (field === 'stateDelta') replace(stateDelta, field, value)
    else if (field === 'artifactDelta') replace(artifactDelta, field, value)
    else store.setControl(controlField(field, store.isCall), value)
  }
  const always = { stateDelta, artifactDelta }
  // the deltas are always there, the other members as the type says
  const drop = (field: string): void => write(field, undefined)
  return liveRecord<Actions & JsonObject>('actions', { read: shown, write, drop, always })
}

/** Throws unless the field of `actions` may hold the value; undefined when the value takes the field away. */
export function checkControl(field: keyof ControlActions, value: unknown): string | boolean | undefined {
  if (value === undefined || value === null || value === false) return undefined
  if (field !== 'transferToAgent') {
    if (value === true) return true
    throw mustBe(field, 'true or false', value)
  }
  if (typeof value === 'string' && value !== '' && value.length <= MAX_NAME_LENGTH) return value
  throw mustBe(field, `the name of an agent, of at most ${MAX_NAME_LENGTH} characters`, value)
}

const CONTROL: readonly string[] = ['skipSummarization', 'transferToAgent', 'escalate', 'endOfAgent']

const INSTEAD: { readonly [field: string]: string } = {
  requestedToolConfirmations: 'Call context.requestConfirmation().',
  requestedInputs: 'Call context.requestInput().',
  requestedAuthConfigs: 'Set authConfig on the tool.',
}

function controlField(field: string, isCall: boolean): keyof ControlActions {
  if (CONTROL.includes(field) && !(isCall && field === 'endOfAgent')) return field as keyof ControlActions
  const fields = `stateDelta, artifactDelta, ${CONTROL.filter((one) => !isCall || one !== 'endOfAgent').join(', ')}`
  const instead = Object.hasOwn(INSTEAD, field) ? INSTEAD[field] : `The fields that can be are ${fields}.`
  throw new ToolwrightError('INVALID_REQUEST', `context.actions.${shortName(field)} cannot be written. ${instead}`)
}

function checkVersion(name: string, version: unknown): number {
  if (name.length > MAX_NAME_LENGTH) {
    const problem = `An artifact name has at most ${MAX_NAME_LENGTH} characters, this one has ${name.length}`
    throw new ToolwrightError('TOO_LARGE', `${problem}. Choose a shorter one.`)
  }
  if (Number.isSafeInteger(version) && Number(version) >= 0) return Number(version)
  throw mustBe(`artifactDelta[${JSON.stringify(name)}]`, 'a version, a whole number >= 0', version)
}

function mustBe(field: string, expected: string, value: unknown): ToolwrightError {
  const problem = `context.actions.${field} must be ${expected}, got ${kindOf(value)}.`
  return new ToolwrightError('INVALID_REQUEST', problem)
}

function shortName(field: string): string {
  return field.length > 64 ? `${field.slice(0, 64)}...` : field
}

interface Source {
  read(): { readonly [key: string]: unknown } | undefined
  write(key: string, value: unknown): void
  drop(key: string): void
  /** Members that can be read while they are empty: live records themselves. */
  readonly always?: { readonly [key: string]: object }
}

const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom')

/** A record that holds nothing itself: it reads and writes through. Values that are read are copies. */
function liveRecord<T extends { [key: string]: unknown }>(name: string, source: Source): T {
  const { always = {} } = source
  const own = (key: PropertyKey): key is string => Object.hasOwn(source.read() ?? {}, key)
  const valueAt = (key: string): unknown => {
    const value = Object.hasOwn(always, key) ? always[key] : source.read()?.[key]
    return value === always[key] ? value : copyJson(value)
  }
  const write = (key: PropertyKey, value: unknown): true => {
    if (typeof key === 'symbol')
      throw new ToolwrightError('INVALID_REQUEST', `A key of context.actions.${name} must be a string, got a symbol.`)
    source.write(String(key), value)
    return true
  }
  // a console shows what is behind a proxy, which here is nothing
  const target = Object.defineProperty({} as T, INSPECT, {
    value: () => copyJson(source.read() ?? {}),
    configurable: true,
  })
  return new Proxy(target, {
    get: (_target, key) => {
      if (typeof key === 'symbol') return Reflect.get(target, key)
      const isKnown: boolean = own(key) || Object.hasOwn(always, key)
      if (isKnown) return valueAt(key)
      // a key that a model chose must not lead to the prototype of all objects
      return key === '__proto__' ? undefined : Reflect.get(target, key)
    },
    has: (_target, key) => own(key) || Reflect.has(target, key),
    set: (_target, key, value) => write(key, value),
    defineProperty: (_target, key, descriptor) => 'value' in descriptor && write(key, descriptor.value),
    deleteProperty: (_target, key) => {
      if (own(key)) source.drop(key)
      return true
    },
    ownKeys: () => Object.keys(source.read() ?? {}),
    getOwnPropertyDescriptor: (_target, key) =>
      own(key) ? { value: valueAt(key), writable: true, enumerable: true, configurable: true } : undefined,
    preventExtensions: () => false,
    setPrototypeOf: () => false,
  })
}
