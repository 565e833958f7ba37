// For tests only: one turn of a model, and what the formats of all providers share.
import type { JsonObject } from '../../src/core/base/json.ts'
import type { ReceivedRequest, Reply, ServerResponseScript } from './provider-server.ts'

/** One turn of a model. */
export interface ModelTurn {
  /** A thought. */
  readonly thinking?: string
  /** Signature of the thought, and of the first call if the provider signs calls. */
  readonly signature?: string
  /** An encrypted thought. */
  readonly redacted?: string
  /** The text. */
  readonly text?: string
  /** The tool calls. `raw` replaces the arguments and can be invalid JSON. */
  readonly calls?: readonly {
    readonly id: string
    readonly name: string
    readonly args?: JsonObject
    readonly raw?: string
  }[]
  /** The provider's finish reason. */
  readonly finish?: string
}

/** Splits a text into the deltas of a stream. */
export const splitText = (text: string): string[] => text.match(/.{1,4}/gs) ?? []
/** The arguments of a call as text. */
export const argsText = ({ args = {}, raw }: { args?: JsonObject; raw?: string }): string => raw ?? JSON.stringify(args)

/** A reply with one body, or with events if the request asks for a stream. */
export function bodyOrEvents(
  whole: () => object,
  events: () => (object | string)[],
  framing: Pick<ServerResponseScript, 'frame' | 'headers'> = {},
): Reply {
  return ({ isStream }: ReceivedRequest) => (isStream ? { events: events(), ...framing } : { json: whole() })
}
