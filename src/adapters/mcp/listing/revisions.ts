import type { ReadonlyContext } from '../../../engine/context/context.ts'
import { hostOf } from '../../../engine/context/host-of.ts'
import type { PinService } from '../../../services/session/service.ts'
import type { McpConnection } from '../connection/connection.ts'

/** What the tools of a connection depend on. */
interface Revision {
  /** How many changes the server had reported before the tools were listed. */
  readonly changes: number
  readonly appName: string
  /** Where the pins are that decide which tools are trusted. */
  readonly pins: PinService | undefined
}

/** The latest revision of the tools of each connection. */
export class Revisions {
  readonly #latest: WeakMap<McpConnection, Revision> = new WeakMap()

  /** Sets the revision of a listing. A listing that ends late does not replace that of a later change. */
  set(connection: McpConnection, changes: number, context: ReadonlyContext): void {
    const known = this.#latest.get(connection)
    const made = { changes, ...pinsOf(context) }
    // an equal revision stays the same object
    if (!isSame(known, made) && changes >= (known?.changes ?? 0)) this.#latest.set(connection, made)
  }

  /** The revision for a context. Undefined if its tools must be listed: the server has reported a change since. */
  get(connection: McpConnection, context: ReadonlyContext): object | undefined {
    const known = this.#latest.get(connection)
    return isSame(known, { changes: connection.changes, ...pinsOf(context) }) ? known : undefined
  }
}

function isSame(known: Revision | undefined, { changes, appName, pins }: Revision): boolean {
  return known?.changes === changes && known.appName === appName && known.pins === pins
}

function pinsOf(context: ReadonlyContext): Omit<Revision, 'changes'> {
  const host = hostOf(context)
  return { appName: host?.appName ?? context.invocation.appName, pins: host?.sessionService?.pins }
}
