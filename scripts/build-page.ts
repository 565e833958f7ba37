// npm run build: builds the workbench to dist/workbench, unless it is newer than its sources.
import { globSync, statSync } from 'node:fs'
import { build } from 'vite'

const BUILT = 'dist/workbench/index.html'

/** Builds the page when it is missing or older than its sources. Returns whether it was built. */
export async function buildPage(options: { force?: boolean } = {}): Promise<boolean> {
  const sources = [
    ...globSync('web/**/*.{ts,tsx,css,html,svg,json}', { exclude: ['web/node_modules/**'] }),
    'package.json',
  ]
  if (!options.force && writtenAt(BUILT) > Math.max(...sources.map(writtenAt))) return false
  const { NODE_ENV } = process.env
  process.env.NODE_ENV = 'production' // vitest sets `test`, and the page would be one for development
  try {
    await build({ configFile: 'web/vite.config.ts', logLevel: 'warn' })
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = NODE_ENV
  }
  return true
}

const writtenAt = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0

if (import.meta.main) await buildPage({ force: process.argv.includes('--force') })
