// npm run docs:api: writes the API reference to docs/reference/api, which is not in git.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { renderApi } from './render-api.ts'

const FOLDER = 'docs/reference/api'

rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(FOLDER, { recursive: true })
const pages = renderApi()
for (const [file, text] of pages) writeFileSync(join(FOLDER, file), text)
console.log(`${FOLDER}: ${pages.size} pages`)
