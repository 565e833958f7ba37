import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** A folder that is deleted at the end of the block. */
export interface TemporaryFolder extends Disposable {
  readonly path: string
  /** The path of a file in the folder. */
  readonly file: (name: string) => string
}

/** Creates a project folder in which `toolwright` and the compiler can be imported. */
export function temporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), 'toolwright-infer-'))
  mkdirSync(join(path, 'node_modules'))
  for (const name of ['toolwright', 'ts-json-schema-generator', 'typescript']) {
    symlinkSync(name === 'toolwright' ? resolve('.') : resolve('node_modules', name), join(path, 'node_modules', name))
  }
  return {
    path,
    file: (name) => join(path, name),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  }
}
