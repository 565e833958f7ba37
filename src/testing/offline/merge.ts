import { isFailed, type Result } from './heard.ts'

/** Results of which one was made from the other as one: `{ city, celsius }` and `{ fahrenheit }` are `{ city, fahrenheit }`. */
export function merged(results: readonly Result[]): Result[] {
  const kept: Result[] = []
  for (const result of results) {
    const from = isFailed(result) ? undefined : kept.findLast((earlier) => fedKey(earlier, result) !== undefined)
    const key = from && fedKey(from, result)
    if (!from || key === undefined) kept.push(result)
    else {
      const { [key]: _, ...rest } = from.response
      kept[kept.indexOf(from)] = { name: result.name, args: from.args, response: { ...rest, ...result.response } }
    }
  }
  return kept
}

/** The key of what the one found out and the other was called with. */
function fedKey({ args, response }: Result, { args: taken }: Result): string | undefined {
  const values = Object.values(taken)
  return Object.keys(response).find((key) => {
    const value = response[key]
    const isNews = !(Object.hasOwn(args, key) && args[key] === value)
    return isNews && (typeof value === 'number' || typeof value === 'string') && values.includes(value)
  })
}
