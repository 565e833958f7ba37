import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Creates an empty folder that is deleted after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

/** The path of a database that does not exist yet. */
export function temporaryFile(): string {
  return join(temporaryFolder(), 'app.db')
}
