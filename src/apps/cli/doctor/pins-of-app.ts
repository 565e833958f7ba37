import type { PinService } from '../../../services/session/service.ts'

/** Where the pins of an app are stored, and how to trust a changed tool. */
export interface PinsOfApp {
  /** The name of the app. */
  readonly appName: string
  /** Knows the trusted definitions. Nothing is written to it. */
  readonly pins: PinService
  /** The arguments of `toolwright mcp trust` for the app: the agent file, and where its pins are. */
  readonly trustArguments: readonly string[]
}

/** Pins that are read, and seem to be written. */
export function readOnly(pins: PinService): PinService {
  return { get: (app, name) => pins.get(app, name), set: async () => true }
}
