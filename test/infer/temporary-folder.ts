import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** A folder that is deleted at the end of the block. */
export interface TemporaryFolder extends Disposable {
  readonly path: string
  /** The path of a file in the folder. */
  readonly file: (name: string) => string
}

/** TypeScript 5, which users install as `typescript-5`. */
export const typeScript5: string = resolve('node_modules/ts-json-schema-generator/node_modules/typescript')

/** Creates a project folder in which `toolwright` and the compiler can be imported. */
export function temporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), 'toolwright-infer-'))
  mkdirSync(join(path, 'node_modules'))
  symlinkSync(resolve('.'), join(path, 'node_modules/toolwright'))
  symlinkSync(resolve('node_modules/typescript'), join(path, 'node_modules/typescript'))
  symlinkSync(typeScript5, join(path, 'node_modules/typescript-5'))
  return {
    path,
    file: (name) => join(path, name),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  }
}
