// The definition of a tool that an approval is bound to: what the approver saw, and where a call of it goes.
import { canonicalJson, type JsonObject } from '../../core/base/json.ts'
import { MAX_CONTENT_BYTES } from '../../core/base/limits.ts'
import { toJsonValue } from '../../core/base/to-json-value.ts'
import { withTimeout } from '../../core/base/with-timeout.ts'
import { messageOf } from '../../core/error/error.ts'
import type { ReadonlyContext } from '../context/context.ts'
import { readonlyContext } from '../context/readonly-context.ts'
import { isPlace } from '../tool/call-place.ts'
import type { Tool } from '../tool/tool.ts'
import { DEFINITION } from '../tool/tool-marks.ts'
import type { Batch } from './host.ts'
import { gateOf, type ToolEntry } from './resolve.ts'

/** How long `sendsTo` may take, in milliseconds. Listing the tools of an agent tool may connect to servers. */
const SENDS_TO_MS = 60_000

/** Digests of tools without `sendsTo`. */
const known: WeakMap<ToolEntry, Promise<string>> = new WeakMap()

/**
 * The digest of a tool definition: name, parameters, effect, gate, auth scheme, whether arguments may be edited, and where
 * calls go. Computed only when a call pauses or resumes.
 */
export function definitionOf(at: Pick<Batch, 'host' | 'agentName' | 'scope'>, entry: ToolEntry): Promise<string> {
  if (entry.tool.sendsTo !== undefined) return currentDigest(at, entry) // each time: also data may be changed in place
  let digest = known.get(entry)
  if (!digest) {
    digest = digestOf(describeTool(entry, undefined))
    known.set(entry, digest)
  }
  return digest
}

async function currentDigest(
  { host, agentName, scope }: Parameters<typeof definitionOf>[0],
  entry: ToolEntry,
): Promise<string> {
  const { ports, logger } = host.services
  try {
    const described = describeEntry(entry, readonlyContext(host, agentName, scope.branch))
    return await digestOf(
      await withTimeout(described, SENDS_TO_MS, ports, () => {
        throw new Error(`it took longer than ${SENDS_TO_MS} ms`)
      }),
    )
  } catch (error) {
    if (host.stop.stopped) throw host.stop.stopped.reason
    const problem = `sendsTo of tool "${entry.tool.name}" failed: ${messageOf(error)}. No approval of the call is valid.`
    logger.warn(problem, error)
    return await digestOf(crypto.randomUUID()) // equal to no other digest
  }
}

/** The definition as text, with where calls go in this context. */
export async function describeEntry(entry: ToolEntry, context: ReadonlyContext): Promise<string> {
  const { tool } = entry
  return describeTool(entry, typeof tool.sendsTo === 'function' ? await tool.sendsTo(context) : tool.sendsTo)
}

/** The definition as text. `place` is the value of `sendsTo`. Throws if a change of it could not be seen. */
export function describeTool(entry: ToolEntry, place: unknown): string {
  const { tool, declaration } = entry
  const { name, effect = 'atMostOnce', isLongRunning, allowEditedArgs } = tool
  const requiresConfirmation = gateOf(entry)
  const gate = typeof requiresConfirmation === 'function' ? 'predicate' : requiresConfirmation === true
  const parameters = declaration?.parametersJsonSchema ?? null
  const schemes = [tool.authConfig ?? []].flat().map(({ authScheme, provider }) => authScheme ?? provider ?? null)
  const scheme = schemes.length > 1 ? schemes : (schemes[0] ?? null) // one scheme: digests of earlier versions stay the same
  const editable = allowEditedArgs ? true : undefined // absent when false: digests of earlier versions stay the same
  const source = (tool as Tool & { readonly [DEFINITION]?: string })[DEFINITION]
  const isPending = isLongRunning === true
  const parts: JsonObject = { name, effect, gate, parameters, scheme, isLongRunning: isPending, editable, source }
  return canonicalJson({ ...parts, sendsTo: place === undefined ? undefined : describePlace(place) }) // absent: as in earlier versions
}

function describePlace(place: unknown): unknown {
  const { value, bytes } = toJsonValue(place)
  if (!isPlace(place) || bytes > MAX_CONTENT_BYTES)
    throw new Error('it must return data of bounded size: texts, numbers, lists and plain objects')
  return value
}

/** The SHA-256 digest of a text, in hexadecimal. */
export async function digestOf(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
