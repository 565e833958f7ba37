// What the benchmark programs share: options of the command, the median, and the packed package in a folder of its own.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** This folder. */
export const root = dirname(fileURLToPath(import.meta.url))

/** The number after `--name`. */
export function option(name, fallback) {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? fallback : Number(process.argv[at + 1])
}

/** The middle of the values. */
export function median(values) {
  return [...values].sort((a, b) => a - b)[values.length >> 1]
}

/**
 * Packs this checkout and installs it in `run/<name>`, with `<name>-worker.mjs` and packages in the versions of our own package.json.
 * A package with a version keeps it. Returns the folder.
 */
export function installPacked(name, packages) {
  const { version, devDependencies } = JSON.parse(readFileSync(join(root, '..', 'package.json'), 'utf8'))
  const folder = join(root, 'run', name)
  const run = (args, cwd) => execFileSync('npm', [...args, '--loglevel=error'], { cwd, stdio: ['ignore', 2, 2] })
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  run(['pack', '--pack-destination', root], dirname(root))
  const pinned = packages.map((one) => (one.lastIndexOf('@') > 0 ? one : `${one}@${devDependencies[one]}`))
  run(['i', '--no-audit', '--no-fund', join(root, `toolwright-${version}.tgz`), ...pinned], folder)
  copyFileSync(join(root, `${name}-worker.mjs`), join(folder, `${name}-worker.mjs`))
  return folder
}
