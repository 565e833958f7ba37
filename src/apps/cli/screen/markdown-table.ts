import { parseSpans } from './markdown.ts'
import type { Paint } from './paint.ts'
import { textWidth } from './text-width.ts'

interface Cell {
  readonly shown: string
  readonly columns: number
}

/** A line that starts with a pipe may be part of a table. */
export function isTableRow(line: string): boolean {
  return /^\s*\|/.test(line)
}

/** Formats a markdown table with aligned columns; a table that is too wide becomes one line per cell. */
export function formatTable(lines: readonly string[], width: number, paint: Paint): string[] {
  const [first = [], ...others] = lines.map(splitCells)
  const isTable = others[0]?.every((cell) => /^:?-+:?$/.test(cell)) === true
  if (!isTable) return lines.map((line) => formatCell(line, paint).shown)
  const head = first.map((cell) => formatCell(cell, paint, true))
  const rows = others.slice(1).map((row) => head.map((_, at) => formatCell(row[at] ?? '', paint)))
  const widths = head.map((cell, at) => Math.max(cell.columns, ...rows.map((row) => row[at]?.columns ?? 0)))
  const isRight = (at: number): boolean => /-:$/.test(others[0]?.[at] ?? '')
  const total = widths.reduce((sum, columns) => sum + columns + 2, -2)
  if (total > width) return rows.flatMap((row) => [...row.map((cell, at) => `${head[at]?.shown}: ${cell.shown}`), ''])
  const line = paint(['dim'], widths.map((columns) => '─'.repeat(columns)).join('  '))
  const [top = '', ...below] = [head, ...rows].map((row) =>
    row.map((cell, at) => padCell(cell, widths[at] ?? 0, isRight(at))).join('  '),
  )
  return [top, line, ...below]
}

function splitCells(line: string): string[] {
  const inside = line.trim().replace(/^\||(?<!\\)\|$/g, '')
  return inside.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
}

function formatCell(text: string, paint: Paint, isHead = false): Cell {
  const spans = parseSpans(text, isHead ? ['bold'] : [])
  return {
    shown: spans.map((span) => paint(span.style, span.text)).join(''),
    columns: textWidth(spans.map((span) => span.text).join('')),
  }
}

function padCell({ shown, columns }: Cell, width: number, isRight: boolean): string {
  const space = ' '.repeat(Math.max(width - columns, 0))
  return isRight ? space + shown : shown + space
}
