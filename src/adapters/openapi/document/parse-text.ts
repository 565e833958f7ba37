import { ToolwrightError } from '../../../core/error/error.ts'
import { MAX_TEXT } from './limits.ts'
import { parseYaml } from './parse-yaml.ts'

/** Parses a document in JSON or YAML. Throws INVALID_CONFIG. */
export async function parseText(given: string): Promise<unknown> {
  const text = given.replace(/^\uFEFF/, '')
  if (text.length > MAX_TEXT)
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `The OpenAPI document has more than ${MAX_TEXT} characters. Remove the paths and schemas that the agent does not need.`,
    )
  const parsed = /^\s*\{/.test(text) ? parseJson(text) : undefined
  return parsed ?? (await parseYaml(text))
}

/** Undefined if the text is not JSON. It may still be YAML, which has braces too. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
