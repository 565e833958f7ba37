// Budgets for the installed package.
import { execSync } from 'node:child_process'
import { globSync, lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

interface Manifest {
  readonly dependencies?: Record<string, string>
  readonly scripts?: Record<string, string>
}

const manifest = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
const installScripts = ['preinstall', 'install', 'postinstall']

test('the package has at most three runtime dependencies', () => {
  expect(Object.keys(manifest('.').dependencies ?? {}).length).toBeLessThanOrEqual(3)
})

test('the package and its dependencies take less than 6 MB installed', { timeout: 30_000 }, () => {
  const sizes = [...dependencyFolders()].map(sizeOf)
  expect(sizes.every((size) => size > 0)).toBe(true)
  const bytes = sizes.reduce((sum, size) => sum + size, pack().unpackedSize)
  expect(bytes / 1e6).toBeLessThan(6)
})

test('neither the package nor a dependency has an install script', () => {
  const scripts = ['.', ...dependencyFolders()].flatMap((folder) => Object.keys(manifest(folder).scripts ?? {}))
  expect(scripts.filter((name) => installScripts.includes(name))).toEqual([])
})

/** The files that `npm publish` would send. Scripts are off, because dist is built already. */
function pack(): { unpackedSize: number; files: { path: string }[] } {
  return JSON.parse(execSync('npm pack --dry-run --json --ignore-scripts', { encoding: 'utf8', stdio: 'pipe' }))[0]
}

function dependencyFolders(of = '.', found: Set<string> = new Set()): Set<string> {
  for (const name of Object.keys(manifest(of).dependencies ?? {})) {
    const folder = join('node_modules', name)
    if (found.has(folder)) continue
    found.add(folder)
    dependencyFolders(folder, found)
  }
  return found
}

function sizeOf(folder: string): number {
  return globSync(`${folder}/**/*`).reduce((sum, file) => sum + lstatSync(file).size, 0)
}
