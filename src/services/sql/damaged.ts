import { ToolwrightError } from '../../core/error/error.ts'

/** The error for a damaged row. */
export function damaged(what: string, problem?: string, cause?: unknown): ToolwrightError {
  const why = problem === undefined ? '' : ` (${problem})`
  return new ToolwrightError('STORAGE', `${what} is damaged in the database${why}. Restore the file from a backup.`, {
    cause,
  })
}
