import type { Pins } from '../../../engine/context/invocation-host.ts'

/** Where the pins of an app are stored, and how to trust a changed tool. */
export interface PinsOfApp {
  /** The name of the app. */
  readonly appName: string
  /** Knows the trusted definitions. Nothing is written to it. */
  readonly pins: Pick<Pins, 'getPin'>
  /** The arguments of `toolwright mcp trust` for the app: the agent file, and where its pins are. */
  readonly trustArguments: readonly string[]
}
