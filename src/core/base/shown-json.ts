// JSON for an approver whose window is small: bounded, and each value is cut on its own, so that a long one hides no other.
import { showInvisible } from './escape.ts'
import { isRecord } from './json.ts'

/** How many values are shown. */
const MAX_VALUES = 200
/** How many characters of a text are shown, at its start and at its end. */
const TEXT = { start: 160, end: 40 }
const NAME = { start: 48, end: 12 }
const MAX_DEPTH = 16

/** JSON in one line, with invisible characters escaped. What is left out is counted where it would be. */
export function shownJson(value: unknown): string {
  return show(value, MAX_VALUES, 0)
}

/** Are all members of the object shown, each at least in part? */
export function isShownWhole(value: object): boolean {
  return Object.keys(value).length <= MAX_VALUES
}

/** `budget` is how many values may be shown. The values of a list or an object share it equally. */
function show(value: unknown, budget: number, depth: number): string {
  if (typeof value === 'string') return showText(value, TEXT)
  if (Array.isArray(value)) return `[${showItems(value, budget, depth, (item, share) => show(item, share, depth + 1))}]`
  if (!isRecord(value)) return showInvisible(JSON.stringify(value) ?? 'null')
  const member = ([name, inner]: [string, unknown], share: number): string =>
    `${showText(name, NAME)}:${show(inner, share, depth + 1)}`
  return `{${showItems(Object.entries(value), budget, depth, member)}}`
}

function showItems<T>(
  items: readonly T[],
  budget: number,
  depth: number,
  showOne: (item: T, share: number) => string,
): string {
  const count = depth < MAX_DEPTH ? Math.min(items.length, budget) : 0
  const share = Math.max(1, Math.floor(budget / Math.max(1, count)))
  const shown = items.slice(0, count).map((item) => showOne(item, share))
  const more = items.length - count
  return [...shown, ...(more > 0 ? [`… ${more} more`] : [])].join(',')
}

function showText(text: string, { start, end }: { readonly start: number; readonly end: number }): string {
  const more = text.length - start - end
  if (more <= 0) return showInvisible(JSON.stringify(text))
  const [first, last] = [text.slice(0, start), text.slice(-end)].map((part) => showInvisible(JSON.stringify(part)))
  return `${first}… ${more} more characters …${last}`
}
