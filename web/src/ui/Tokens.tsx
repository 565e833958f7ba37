import type { JSX } from 'preact'
import type { JsonObject } from '../../../src/core/base/json.ts'

/** The tokens of a model call: input, output, and how many of the input were cached. */
export function Tokens({ usage }: { readonly usage: JsonObject | undefined }): JSX.Element | null {
  const input = count(usage?.promptTokenCount)
  const output = count(usage?.candidatesTokenCount)
  const cached = count(usage?.cachedContentTokenCount)
  if (input === undefined && output === undefined) return null
  const text = `${input ?? 0} in${cached ? ` (${cached} cached)` : ''} · ${output ?? 0} out`
  return <span class="tokens">{text}</span>
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
