import type { ReadonlyContext } from '../../engine/context/context.ts'
import { CredentialRequired } from '../../engine/context/credential-required.ts'
import { sessionLoss } from './call/session-loss.ts'
import type { CallingToolset, ToolsetCalls } from './call/toolset-calls.ts'
import { type McpConnection, RefusedError } from './connection/connection.ts'
import { LIST_MS, RELIST_MS } from './limits.ts'
import { type Listing, listServerTools } from './listing/server-tool.ts'
import { toLine } from './warnings.ts'

/** The tools of a server, and the connection that listed them. */
interface CurrentListing {
  /** The connection. */
  readonly connection: McpConnection
  /** The tools. */
  readonly listing: Listing
  /** How often the server had reported a change of its tools before the listing. */
  readonly changes: number
}

interface CachedListing {
  readonly listing: Promise<Listing>
  readonly changes: number
  readonly relistedAt: number
}

/** The listings of a toolset: one for each connection, until the server reports a change. */
export class ServerListings {
  readonly #toolset: CallingToolset
  readonly #calls: ToolsetCalls
  readonly #cached: WeakMap<McpConnection, CachedListing> = new WeakMap()

  constructor(toolset: CallingToolset, calls: ToolsetCalls) {
    this.#toolset = toolset
    this.#calls = calls
  }

  /**
   * The tools of the server. If the server has lost the session, it is asked once more in a new one. Throws
   * `CredentialRequired` if the server wants a credential.
   */
  async list(context: ReadonlyContext, isRepeated = false): Promise<CurrentListing> {
    let connection: McpConnection | undefined
    try {
      connection = await this.#toolset.connect(context)
      const { listing, changes } = this.#listingOf(connection)
      return { connection, listing: await listing, changes }
    } catch (error) {
      if (connection) this.#cached.delete(connection)
      if (connection && (connection.isAbandoned || (await sessionLoss(connection, error)))) {
        await connection.abandon()
        if (!isRepeated) return await this.list(context, true)
      }
      const refusal = error instanceof RefusedError ? error : connection?.http.takeRefusal()
      if (refusal) throw new CredentialRequired(await this.#toolset.identities.refused(context, refusal.challenge))
      const reason = toLine(await this.#calls.failureReason(error, context))
      throw new Error(`the MCP server cannot be used: ${reason}`, { cause: error })
    }
  }

  #listingOf(connection: McpConnection): CachedListing {
    const cached = this.#cached.get(connection)
    const now = performance.now()
    const isFresh = cached && (cached.changes === connection.changes || now - cached.relistedAt < RELIST_MS)
    if (isFresh) return cached
    const { connectTimeoutMs = 5_000 } = this.#toolset.options
    const listing = listServerTools(connection.client, { timeout: Math.max(connectTimeoutMs, LIST_MS) })
    const relistedAt = cached ? now : Number.NEGATIVE_INFINITY
    const made = { listing, changes: connection.changes, relistedAt }
    this.#cached.set(connection, made)
    listing.catch(() => this.#cached.delete(connection))
    return made
  }
}
