import { isRecord, type JsonObject } from '../base/json.ts'
import { messageOf } from '../error/error.ts'
import { compileSchema } from '../schema/compile.ts'
import { listIssues } from '../schema/issues.ts'
import { exactly } from './visible.ts'

/** How a value of this schema is typed: what stands in the prompt, and what a line means. */
export interface Typing {
  readonly how: string
  /** Throws when the line means nothing. */
  read(line: string): unknown
}

const asText: Typing = { how: 'text', read: (line) => line }

const asJson: Typing = {
  how: 'JSON',
  read(line) {
    try {
      return JSON.parse(line)
    } catch (error) {
      throw new Error(`That is no JSON: ${messageOf(error)}`)
    }
  },
}

const words = new Map([
  ['true', true],
  ['yes', true],
  ['y', true],
  ['false', false],
  ['no', false],
  ['n', false],
])

/** What a line does not spell is handed on as it is: the schema says what is wrong with it. */
export function typingOf(schema: JsonObject | undefined): Typing {
  if (!schema) return asText
  const options = Array.isArray(schema.enum) ? schema.enum : undefined
  if (options?.length && options.every((option) => !isRecord(option) && !Array.isArray(option))) return oneOf(options)
  switch (schema.type) {
    case 'string':
      return asText
    case 'number':
    case 'integer':
      return { how: `${schema.type}`, read: (line) => numberIn(line) ?? line }
    case 'boolean':
      return { how: 'true or false', read: (line) => words.get(line.trim().toLowerCase()) ?? line }
    default:
      return asJson
  }
}

function oneOf(options: readonly unknown[]): Typing {
  return {
    how: `one of ${options.map((option) => exactly(option)).join(', ')}`,
    read: (line) => options.find((option) => String(option) === line.trim()) ?? line,
  }
}

function numberIn(line: string): number | undefined {
  const text = line.trim()
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined
}

/** What is wrong with a value, in words; undefined when it fits. */
export async function misfit(schema: JsonObject | undefined, value: unknown): Promise<string | undefined> {
  if (!schema) return undefined
  const { issues } = await compileSchema(schema, 'The question', { lenient: true }).parse(value)
  return issues && listIssues(issues, ({ path, expected }) => `${path || 'it'} must be ${expected}`)
}
