/** Shortens a text to at most `max` characters, with an ellipsis at its end. Never splits a surrogate pair. */
export function truncate(text: string, max: number): string {
  if (text.length <= max) return text
  return `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
