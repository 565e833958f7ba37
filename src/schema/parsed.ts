/** One thing that is wrong with a value: where, and what was expected there. Never the value itself. */
export interface Issue {
  /** `address.street`, `items[2]`; empty for the whole. */
  readonly path: string
  readonly expected: string
}

/** A checked value, defaults applied, or what is wrong with it. */
export type Parsed =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly Issue[]; readonly value?: undefined }

/** `city: expected string; units: expected "celsius" or "fahrenheit"` */
export function describeIssues(issues: readonly Issue[]): string {
  const shown = issues.slice(0, 20).map(({ path, expected }) => `${path || 'arguments'}: expected ${expected}`)
  if (issues.length > shown.length) shown.push(`and ${issues.length - shown.length} more`)
  return shown.join('; ')
}
