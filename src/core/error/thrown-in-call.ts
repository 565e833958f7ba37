// Errors that the code of a tool throws on accident. The model gets the message, the operator and the developer get the stack.
import { clip } from '../base/limits.ts'
import { messageOf } from './error.ts'
import { hideSecrets } from './hide-secrets.ts'

const MAX_STACK_LENGTH = 8_000
const MAX_CAUSES = 3

/** The call in which an error was thrown. */
interface ThrowingCall {
  /** The user of the session. */
  readonly userId: string
  /** The session. */
  readonly sessionId: string
  /** The invocation. */
  readonly invocationId: string
  /** The id of the call. */
  readonly functionCallId: string
  /** The tool. */
  readonly toolName: string
}

/** What the report of an error leaves out. */
interface ThrownInCallOptions {
  readonly hidesMessage?: boolean
  readonly hide?: (text: string) => string
}

const same = (text: string): string => text

/**
 * What a logger gets about an error that a tool threw: its name, message and stack, and the call. Other members are left out: errors of
 * HTTP clients hold headers.
 */
export class ThrownInCall extends Error {
  /** The name of the thrown error. */
  override readonly name: string
  /** The call. */
  readonly call: ThrowingCall
  /**
   * @param hidesMessage Leaves out the message, which may hold values of arguments. Only the lines of the stack stay.
   * @param hide Hides the credentials of the call in a text.
   */
  constructor(error: unknown, call: ThrowingCall, { hidesMessage = false, hide = same }: ThrownInCallOptions = {}) {
    super(hidesMessage ? 'its message is left out, because it may hold arguments' : hideSecrets(hide(messageOf(error))))
    this.name = nameOf(error)
    const stack = hidesMessage ? `${this.name}: ${this.message}${framesOf(error)}` : stackOf(error, 0)
    this.stack = hideSecrets(clip(hide(stack), MAX_STACK_LENGTH))
    this.call = call
  }
}

function framesOf(error: unknown): string {
  return (stackOf(error, MAX_CAUSES).match(/^ +at .*$/gm) ?? []).map((line) => `\n${line}`).join('')
}

function nameOf(error: unknown): string {
  try {
    return error instanceof Error && typeof error.name === 'string' ? clip(error.name, 100) : 'Error'
  } catch {
    return 'Error'
  }
}

/** The stack with those of its causes. Also of values that are no errors, and of errors that throw when they are read. */
function stackOf(error: unknown, depth: number): string {
  try {
    if (!(error instanceof Error)) return messageOf(error)
    const own = typeof error.stack === 'string' && error.stack !== '' ? error.stack : messageOf(error)
    if (depth >= MAX_CAUSES || error.cause === undefined) return own
    return `${own}\nCaused by: ${stackOf(error.cause, depth + 1)}`
  } catch {
    return messageOf(error)
  }
}
