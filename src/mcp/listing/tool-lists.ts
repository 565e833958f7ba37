import { digestOf } from '../../auth/digest.ts'
import type { Pins } from '../../tool/invocation-host.ts'
import type { McpConnection } from '../connection/connection.ts'
import { LIST_MS, RELIST_MS } from '../limits.ts'
import type { McpToolsetOptions } from '../mcp-toolset-options.ts'
import { type Listing, listServerTools } from './server-tool.ts'
import { judge, type PinStore, pin, type Verdict } from './trust.ts'

interface CachedListing {
  readonly listing: Promise<Listing>
  readonly changes: number
  readonly relistedAt: number
}

interface CachedVerdict {
  readonly listing: Listing
  readonly appName: string
  readonly verdict: Verdict
}

/** The tools that a server lists, and which of them are trusted. Both are read again only after a change. */
export class ToolLists {
  readonly #options: McpToolsetOptions
  readonly #pinName: Promise<string>
  readonly #listings: WeakMap<McpConnection, CachedListing> = new WeakMap()
  readonly #verdicts: WeakMap<Pins, CachedVerdict> = new WeakMap()

  constructor(options: McpToolsetOptions, defaultName: string) {
    this.#options = options
    this.#pinName = pinNameOf(options, defaultName)
  }

  /** The tools that a connection lists. */
  of(connection: McpConnection): Promise<Listing> {
    const cached = this.#listings.get(connection)
    const now = performance.now()
    const isFresh = cached && (cached.changes === connection.changes || now - cached.relistedAt < RELIST_MS)
    if (isFresh) return cached.listing
    const { connectTimeoutMs = 5_000 } = this.#options
    const listing = listServerTools(connection.client, { timeout: Math.max(connectTimeoutMs, LIST_MS) })
    const relistedAt = cached ? now : Number.NEGATIVE_INFINITY
    this.#listings.set(connection, { listing, changes: connection.changes, relistedAt })
    listing.catch(() => this.#listings.delete(connection))
    return listing
  }

  /** Compares a listing with the pins: once, and again while tools are quarantined, because another process may trust them. */
  async judge(listing: Listing, store: PinStore): Promise<Verdict> {
    const { appName, sessionService } = store
    const known = this.#verdicts.get(sessionService)
    const isSame = known?.listing === listing && known.appName === appName
    if (isSame && known.verdict.problems.length === 0) return known.verdict
    const verdict = await judge(store, await this.#pinName, listing.tools)
    this.#verdicts.set(sessionService, { listing, appName, verdict })
    return verdict
  }

  /** Trusts a definition. */
  async trust(store: PinStore, name: string, hash: string): Promise<void> {
    await pin(store, await this.#pinName, name, hash)
  }
}

/** The name of the pins. Two servers can have one default name, so the name then contains how the server is reached. */
async function pinNameOf({ name, connection }: McpToolsetOptions, defaultName: string): Promise<string> {
  if (name !== undefined) return `mcp:${name}`
  const { type } = connection
  const place = type === 'stdio' ? [connection.command, ...(connection.args ?? [])] : [String(connection.url)]
  return `mcp:${defaultName}:${(await digestOf(...place)).slice(0, 16)}`
}
