import { escapeJson } from '../../../core/base/escape.ts'
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { messageOf } from '../../../core/error/error.ts'
import { compileSchema } from '../../../core/schema/compile.ts'
import { listIssues } from '../../../core/schema/issues.ts'

/** How the user types a value of a schema. */
interface InputFormat {
  /** Names the format in the prompt, e.g. `true or false`. */
  readonly label: string
  /** Converts the typed line to a value; throws when the line cannot be parsed. */
  parse(line: string): unknown
}

const textFormat: InputFormat = { label: 'text', parse: (line) => line }

const jsonFormat: InputFormat = {
  label: 'JSON',
  parse(line) {
    try {
      return JSON.parse(line)
    } catch (error) {
      throw new Error(`Invalid JSON: ${messageOf(error)}`)
    }
  },
}

const booleanWords = new Map([
  ['true', true],
  ['yes', true],
  ['y', true],
  ['false', false],
  ['no', false],
  ['n', false],
])

/** Chooses the format for a schema. A line that does not parse is passed on as text, and the schema check rejects it. */
export function inputFormat(schema: JsonObject | undefined): InputFormat {
  if (!schema) return textFormat
  const options = Array.isArray(schema.enum) ? schema.enum : undefined
  if (options?.length && options.every((option) => !isRecord(option) && !Array.isArray(option)))
    return enumFormat(options)
  switch (schema.type) {
    case 'string':
      return textFormat
    case 'number':
    case 'integer':
      return { label: `${schema.type}`, parse: (line) => parseNumber(line) ?? line }
    case 'boolean':
      return { label: 'true or false', parse: (line) => booleanWords.get(line.trim().toLowerCase()) ?? line }
    default:
      return jsonFormat
  }
}

function enumFormat(options: readonly unknown[]): InputFormat {
  return {
    label: `one of ${options.map((option) => escapeJson(option)).join(', ')}`,
    parse: (line) => options.find((option) => String(option) === line.trim()) ?? line,
  }
}

function parseNumber(line: string): number | undefined {
  const text = line.trim()
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined
}

/** Describes why a value does not match a schema; undefined when it matches. */
export async function describeMismatch(schema: JsonObject | undefined, value: unknown): Promise<string | undefined> {
  if (!schema) return undefined
  const { issues } = await compileSchema(schema, 'The schema of the request', { lenient: true }).parse(value)
  return issues && listIssues(issues, ({ path, expected }) => `${path || 'it'} must be ${expected}`)
}
