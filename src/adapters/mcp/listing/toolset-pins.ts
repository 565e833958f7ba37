import type { JsonObject } from '../../../core/base/json.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { ReadonlyContext } from '../../../engine/context/context.ts'
import { hostOf } from '../../../engine/context/host-of.ts'
import { digestOf } from '../../../services/auth/digest.ts'
import { InMemorySessionService } from '../../../services/session/in-memory.ts'
import type { PinService } from '../../../services/session/service.ts'
import type { McpToolsetOptions } from '../mcp-toolset-options.ts'
import { judge, type PinStore, pin, type Verdict } from './quarantine.ts'
import type { Listing } from './server-tool.ts'

/** A definition of a tool, as an operator sees it. */
export interface ToolDefinition {
  /** The name at the server. */
  readonly name: string
  /** The digest of the definition. */
  readonly hash: string
  /** May models call the tool? */
  readonly trusted: boolean
}

interface KnownVerdict {
  readonly listing: Listing
  readonly appName: string
  readonly verdict: Verdict
}

/** The pins of a toolset, in the session service of the runner that uses it. */
export class ToolsetPins {
  readonly #toolset: string
  readonly #name: Promise<string>
  readonly #verdicts: WeakMap<PinService, KnownVerdict> = new WeakMap()
  /** For contexts without a session service. */
  readonly #own = new InMemorySessionService()
  #latest: { readonly listing: Listing; readonly store: PinStore } | undefined

  constructor(toolset: string, options: McpToolsetOptions) {
    this.#toolset = toolset
    this.#name = pinNameOf(toolset, options)
  }

  /** Whose pins decide which tools are trusted in a context. */
  #storeOf(context: ReadonlyContext): PinStore {
    const host = hostOf(context)
    // the invocation of a context is created when it is read
    return { appName: host?.appName ?? context.invocation.appName, sessionService: host?.sessionService ?? this.#own }
  }

  /** Compares a listing with the pins: once, and again while tools are quarantined, because another process may trust them. */
  async judge(listing: Listing, context: ReadonlyContext): Promise<Verdict> {
    const store = this.#storeOf(context)
    const { appName } = store
    const { pins } = store.sessionService
    this.#latest = { listing, store }
    const known = this.#verdicts.get(pins)
    const isSame = known?.listing === listing && known.appName === appName
    if (isSame && known.verdict.problems.length === 0) return known.verdict
    const verdict = await judge(store, await this.#name, listing.tools)
    this.#verdicts.set(pins, { listing, appName, verdict })
    return verdict
  }

  /** The latest listing, else the one of `list`. Throws if there is no store. */
  async forOperator(
    given: PinStore | undefined,
    list: (store: PinStore) => Promise<Listing>,
  ): Promise<{ listing: Listing; store: PinStore }> {
    const store = given ?? this.#latest?.store
    if (!store)
      throw new ToolwrightError(
        'INVALID_REQUEST',
        `Toolset "${this.#toolset}" has not been used by a runner yet. Pass { appName, sessionService } of the runner.`,
      )
    return { listing: this.#latest?.listing ?? (await list(store)), store }
  }

  /** The definitions of a listing. */
  async definitions(listing: Listing, store: PinStore): Promise<ToolDefinition[]> {
    const { trusted } = await judge(store, await this.#name, listing.tools)
    return listing.tools.map(({ name, hash }) => ({ name, hash, trusted: trusted.has(name) }))
  }

  /** Trusts a definition of a listing. */
  async trust({ name, hash }: Pick<ToolDefinition, 'name' | 'hash'>, listing: Listing, store: PinStore): Promise<void> {
    const found = listing.tools.find((tool) => tool.name === name)
    if (found?.hash !== hash)
      throw new ToolwrightError(
        'INVALID_REQUEST',
        `Tool "${name}" of toolset "${this.#toolset}" has another definition now, or is gone. Call definitions() again.`,
      )
    await pin(store, await this.#name, name, hash)
  }
}

/** The name of the pins. Two servers can have one default name, so the name then contains how the server is reached. */
async function pinNameOf(toolset: string, { name, connection }: McpToolsetOptions): Promise<string> {
  if (name !== undefined) return `mcp:${name}`
  const place =
    connection.type === 'stdio' ? [connection.command, ...(connection.args ?? [])] : [String(connection.url)]
  return `mcp:${toolset}:${(await digestOf(...place)).slice(0, 16)}`
}

/**
 * Where a server is, for approvals. Headers and variables of the environment are left out: they hold credentials, which
 * change while the server stays the same.
 */
export function placeOf(connection: McpToolsetOptions['connection']): JsonObject {
  const { type } = connection
  if (connection.type === 'stdio') return { type, command: connection.command, args: [...(connection.args ?? [])] }
  return { type, url: new URL(connection.url).href }
}
