import { visit } from '../source.ts'
import { type Measurement, measure, type ParsedFile } from './parsed-file.ts'

/** Every use of the type `any`. */
export function anyTypes(files: readonly ParsedFile[]): Measurement[] {
  return files.flatMap((file) => {
    const found: Measurement[] = []
    visit(file.program, (node) => {
      if (node.type === 'TSAnyKeyword') found.push(measure(file, node, 'any', 1))
    })
    return found
  })
}
