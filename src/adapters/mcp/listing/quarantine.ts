// Pins: which definitions of a server the app trusts. The first definition of each tool is trusted. A tool that changes
// later is quarantined until an operator trusts its new definition.
import { isRecord } from '../../../core/base/json.ts'
import { messageOf } from '../../../core/error/error.ts'
import type { SessionService } from '../../../services/session/service.ts'
import type { ServerTool } from './server-tool.ts'

/** Where the pins of a toolset are stored. */
export interface PinStore {
  /** The app that trusts. */
  readonly appName: string
  /** The session service of the app. */
  readonly sessionService: Pick<SessionService, 'pins'>
}

/** Which tools are trusted. */
export interface Verdict {
  /** The names of trusted tools. */
  readonly trusted: ReadonlySet<string>
  /** Why the others are quarantined: one line each. */
  readonly problems: readonly string[]
}

/** From the name of a tool to the hash of its trusted definition. */
type Pinned = ReadonlyMap<string, string>

/** How often a pin is read again after another process has changed it. */
const MAX_ROUNDS = 5

/** Compares the tools with their pins. Pins tools that are new. */
export async function judge(store: PinStore, pinName: string, tools: readonly ServerTool[]): Promise<Verdict> {
  try {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const stored = await store.sessionService.pins.get(store, pinName)
      const verdict = compare(parsePins(stored), tools, stored === undefined)
      if (verdict.added.length === 0) return verdict
      const pinned = new Map([...parsePins(stored), ...verdict.added])
      if (await save(store, pinName, pinned, stored)) return verdict
    }
    throw new Error('other processes kept changing the pins')
  } catch (error) {
    const problem = `All tools are quarantined: their pins cannot be read or written: ${messageOf(error)}`
    return { trusted: new Set(), problems: [problem] }
  }
}

/** Trusts one definition. */
export async function pin(store: PinStore, pinName: string, name: string, hash: string): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const stored = await store.sessionService.pins.get(store, pinName)
    if (await save(store, pinName, new Map([...parsePins(stored), [name, hash]]), stored)) return
  }
  throw new Error('other processes kept changing the pins. Try again')
}

function compare(
  pinned: Pinned,
  tools: readonly ServerTool[],
  isFirst: boolean,
): Verdict & { readonly added: readonly (readonly [string, string])[] } {
  const listed = new Set(tools.map(({ name }) => name))
  // a tool that is new while another has disappeared may be that tool under a new name
  const missing = isFirst ? undefined : [...pinned.keys()].find((name) => !listed.has(name))
  const trusted = new Set<string>()
  const problems: string[] = []
  const added: (readonly [string, string])[] = []
  for (const { name, hash } of tools) {
    const known = pinned.get(name)
    if (known === hash) trusted.add(name)
    else if (known === undefined && missing === undefined) {
      trusted.add(name)
      added.push([name, hash])
    } else {
      const reason =
        known === undefined
          ? `it is new, and tool ${JSON.stringify(missing)} has disappeared`
          : 'its definition has changed'
      problems.push(
        `Tool ${JSON.stringify(name)} is quarantined: ${reason}. Look at it with toolset.definitions(), then trust it with toolset.trust() or \`toolwright mcp trust\`.`,
      )
    }
  }
  return { trusted, problems, added }
}

function save(store: PinStore, pinName: string, pinned: Pinned, stored: string | undefined): Promise<boolean> {
  const text = JSON.stringify([...pinned].sort(([one], [other]) => (one < other ? -1 : 1)))
  return store.sessionService.pins.set(store, pinName, text, { expected: stored ?? null })
}

/** Throws if the text is not what `save` has written: damaged pins must not count as no pins. */
function parsePins(text: string | undefined): Pinned {
  if (text === undefined) return new Map()
  const parsed: unknown = JSON.parse(text)
  const isPin = (one: unknown): one is [string, string] =>
    Array.isArray(one) && one.every((part) => typeof part === 'string')
  if (Array.isArray(parsed) && parsed.every(isPin)) return new Map(parsed)
  throw new Error(`the pin is ${isRecord(parsed) ? 'an object' : 'not a list'} instead of a list of names and hashes`)
}
