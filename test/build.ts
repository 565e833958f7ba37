import { execSync } from 'node:child_process'
import { globSync, statSync } from 'node:fs'

/** Builds dist when it is missing or older than its sources (`npm test` builds it first). */
export default function build(): void {
  const config = ['package.json', 'tsconfig.json', 'tsdown.config.ts', 'entry-points.ts']
  const sources = [...config, ...globSync(['src/**/*.ts', 'scripts/*.ts'])]
  if (writtenAt('dist/cli/index.js') > Math.max(...sources.map(writtenAt))) return
  execSync('npm run build', { stdio: 'inherit' })
}

const writtenAt = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
