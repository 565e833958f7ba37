import type { Node } from '../source.ts'
import { type Measurement, measure, type ParsedFile } from './parsed-file.ts'

/** The number of import declarations of each file, type imports included. */
export function importsPerFile(files: readonly ParsedFile[]): Measurement[] {
  return files.map((file) => {
    const imports = (file.program.body as Node[]).filter(({ type }) => type === 'ImportDeclaration')
    return measure(file, imports[0] ?? file.program, 'imports', imports.length)
  })
}
