import { relative } from 'node:path'
import type { Mistake } from './mistake.ts'

/** All mistakes in one text, one line each, in the order of their positions. */
export function describeMistakes(mistakes: readonly Mistake[], folder: string = process.cwd()): string {
  const lines = mistakes.map(({ file, line, column, message }) => ({
    file: shown(file, folder),
    line,
    column,
    message,
  }))
  lines.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column)
  const texts = new Set(lines.map(({ file, line, column, message }) => `${file}:${line}:${column} ${message}`))
  const count =
    texts.size === 1 ? 'A function cannot be a tool' : `${texts.size} mistakes in functions that are used as tools`
  return `${count}:\n${[...texts].join('\n')}`
}

function shown(file: string, folder: string): string {
  const path = relative(folder, file)
  return path.startsWith('..') ? file : path
}
