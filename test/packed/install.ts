// Installs the package, as npm would publish it, in an empty folder without peers, source or other files of the repository.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** An app that has the packed package installed. */
export interface Installed {
  /** The folder of the app, with `node_modules/toolwright` in it. */
  readonly folder: string
  /** Writes a file of the app and returns its path. */
  write(name: string, text: string): string
  /** Removes the folder. */
  remove(): void
}

/** Packs and installs the package. Needs a built dist: scripts are off, because `prepack` would build it again. */
export function installPacked(): Installed {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-packed-'))
  const modules = join(folder, 'node_modules')
  mkdirSync(modules)
  const npm = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder]
  const [{ filename }] = JSON.parse(
    execFileSync('npm', npm, { encoding: 'utf8', stdio: 'pipe', shell: process.platform === 'win32' }),
  )
  execFileSync('tar', ['-xzf', join(folder, filename), '-C', modules])
  renameSync(join(modules, 'package'), join(modules, 'toolwright'))
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  for (const name of Object.keys(dependencies)) {
    cpSync(join('node_modules', name), join(modules, name), { recursive: true })
  }
  const write = (name: string, text: string): string => {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return file
  }
  write('package.json', '{ "type": "module", "private": true }')
  return { folder, write, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
