import { canonicalJson } from '../base/json.ts'
import { gateOf, type ToolEntry } from './resolve.ts'

const known: WeakMap<ToolEntry, Promise<string>> = new WeakMap()

/** The digest of a tool definition: name, parameters, effect, gate, auth scheme, and whether arguments may be edited. */
export function definitionOf(entry: ToolEntry): Promise<string> {
  let digest = known.get(entry)
  if (!digest) {
    digest = digestOf(describe(entry))
    known.set(entry, digest)
  }
  return digest
}

function describe(entry: ToolEntry): string {
  const { tool, declaration } = entry
  const { name, effect = 'atMostOnce', authConfig, isLongRunning, allowEditedArgs } = tool
  const requiresConfirmation = gateOf(entry)
  const gate = typeof requiresConfirmation === 'function' ? 'predicate' : requiresConfirmation === true
  const parameters = declaration?.parametersJsonSchema ?? null
  const scheme = authConfig?.authScheme ?? null
  const editable = allowEditedArgs ? true : undefined // absent when false: digests of earlier versions stay the same
  return canonicalJson({ name, effect, gate, parameters, scheme, isLongRunning: isLongRunning === true, editable })
}

async function digestOf(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
