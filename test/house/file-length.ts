import type { Measurement, ParsedFile } from './parsed-file.ts'

/** The number of lines of each file. */
export function linesPerFile(files: readonly ParsedFile[]): Measurement[] {
  return files.map(({ file, text }) => ({ file, line: 1, name: 'lines', value: text.trimEnd().split('\n').length }))
}
