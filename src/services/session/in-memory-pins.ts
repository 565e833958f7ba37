import { checkPin } from './check-pin.ts'
import type { PinService } from './service.ts'

/** Keeps pins in the memory of this process. */
export class InMemoryPins implements PinService {
  readonly #pins: Map<string, string> = new Map()

  async get({ appName }: { appName: string }, name: string): Promise<string | undefined> {
    checkPin(appName, name)
    return this.#pins.get(keyOf(appName, name))
  }

  async set(
    { appName }: { appName: string },
    name: string,
    hash: string,
    { expected }: { expected?: string | null | undefined } = {},
  ): Promise<boolean> {
    checkPin(appName, name, hash)
    const key = keyOf(appName, name)
    if (expected !== undefined && (this.#pins.get(key) ?? null) !== expected) return false
    this.#pins.set(key, hash)
    return true
  }
}

/** A key that is different for each app and name, whatever characters they contain. */
function keyOf(appName: string, name: string): string {
  return JSON.stringify([appName, name])
}
