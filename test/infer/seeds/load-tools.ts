import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ToolSource } from 'toolwright'
import { createInferrer } from '../../../src/apps/infer/create-inferrer.ts'
import { temporaryFolder } from '../temporary-folder.ts'

// One program for all files of this folder.
const inferrer = createInferrer({ cache: false })

/** Transforms a file of this folder, and imports its tools. */
export async function loadTools(name: string): Promise<readonly ToolSource[]> {
  const file = join(import.meta.dirname, name)
  const transformed = inferrer.transform(file, readFileSync(file, 'utf8'))
  if (!transformed) throw new Error(`${name} has no plain function that is used as a tool.`)
  using folder = temporaryFolder()
  writeFileSync(folder.file(name), transformed.code)
  const { tools } = await import(/* @vite-ignore */ folder.file(name))
  return tools
}
