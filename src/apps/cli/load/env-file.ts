import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { isRecord } from '../../../core/base/json.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'

/** Adds the variables of the `.env` file in a folder. Existing variables keep their value; the file is optional. */
export function loadEnvFile(folder: string, env: { [name: string]: string | undefined }): void {
  const path = join(folder, '.env')
  const text = read(path)
  if (text === undefined) return
  const problem = findProblem(text)
  if (problem) throw invalid(`Cannot parse "${path}": ${problem}`)
  for (const [name, value] of Object.entries(parseEnv(text))) env[name] ??= value
}

function read(path: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch (error) {
    const code = isRecord(error) ? error.code : undefined
    if (code === 'ENOENT') return undefined
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      throw invalid(`Cannot read "${path}": it is not UTF-8. Save it as UTF-8.`)
    throw invalid(`Cannot read "${path}": ${messageOf(error)}. Make it readable, or remove it.`)
  }
}

/** Describes the first invalid line by its number only: the line may hold a secret. */
function findProblem(text: string): string | undefined {
  let open: { quote: string; line: number } | undefined
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (open) {
      if (line.includes(open.quote)) open = undefined
      continue
    }
    if (/^\s*(?:#|$)/.test(line)) continue
    const value = /^\s*(?:export\s+)?[\w.-]+\s*=\s*(.*)$/.exec(line)?.[1]
    if (value === undefined) return `line ${at + 1} is not NAME=value. Correct it, or start it with #.`
    const quote = /^["'`]/.exec(value)?.[0]
    if (quote && !value.slice(1).includes(quote)) open = { quote, line: at + 1 }
  }
  return open && `the quote in line ${open.line} is not closed. Close it.`
}

function invalid(message: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', message)
}
