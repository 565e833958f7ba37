// Plays the story of an invocation in three processes while a collector listens, and checks what the collector has received.
//   node test/otel-collector/check.ts <program of the collector> <module that chooses the SDK>
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkOtelStory, playOtelStory } from '../scenarios/otel-story.ts'
import { schemasIn, spansIn, startRotel } from './rotel.ts'

const [, , program = '', sdk = ''] = process.argv
const folder = mkdtempSync(join(tmpdir(), 'toolwright-collector-'))
try {
  const rotel = await startRotel(program, folder)
  await playOtelStory({ folder, url: rotel.url, sdk })
  const printed = await rotel.stop()
  checkOtelStory(spansIn(printed))
  assert.deepEqual(schemasIn(printed), new Set(['https://opentelemetry.io/schemas/1.41.0']))
  assert.match(printed, new RegExp(`telemetry\\.sdk\\.version: Str\\(${process.env.SDK_VERSION}\\)`))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
