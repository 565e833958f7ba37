import type { RequestContext } from '../env.ts'
import { Fields, invalid } from './fields.ts'

/** The JSON body of a request; undefined if it is empty or `null`. */
export async function readOptionalBody(context: RequestContext): Promise<unknown> {
  const parsed = context.get('parsedBody')
  if (parsed) return parsed.value ?? undefined
  const text = await context.req.text()
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text) ?? undefined
  } catch {
    throw invalid('The body is not JSON.') // the message of JSON.parse shows a part of the body
  }
}

/** The members of the JSON body of a request. */
export async function readBody(context: RequestContext): Promise<Fields> {
  return new Fields(await readOptionalBody(context))
}

/** A whole number of a query, or `fallback` if the query has none. */
export function readNumber(context: RequestContext, name: string, fallback: number): number {
  const text = context.req.query(name)
  if (text === undefined) return fallback
  const value = Number(text)
  if (/^\d{1,15}$/.test(text) && value >= 1) return value
  throw invalid(`The query parameter "${name}" must be a whole number above 0.`)
}
