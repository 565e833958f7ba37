import type { ChatRow } from '../chat/rows.ts'
import { visibleText } from '../ui/visible-text.ts'

/** A conversation as Markdown. */
export function writeMarkdown(title: string, rows: readonly ChatRow[]): string {
  return [`# ${line(title)}`, ...rows.map(writeRow)].filter(Boolean).join('\n\n').concat('\n')
}

function writeRow(row: ChatRow): string {
  switch (row.type) {
    case 'user':
      return `**User**, ${time(row)}\n\n${quote(row.parts.map(({ text, inlineData }) => text ?? `(${inlineData?.mimeType ?? 'file'})`).join('\n'))}`
    case 'text':
      return row.isThought ? '' : `**${line(row.author)}**, ${time(row)}\n\n${row.text}`
    case 'call': {
      const { name, status, args, changedArgs, response } = row.call
      return `**Call of \`${line(name)}\`**: ${status}\n\n${fence(changedArgs ?? args)}${response ? `\n\n${fence(response.response)}` : ''}`
    }
    case 'code':
      return fence(row.code.code)
    case 'output':
      return fence(row.output.output ?? row.output.outcome)
    case 'artifact':
      return `*Saved ${line(row.filename)}, version ${row.version}*`
    case 'note':
      return `*${line(row.text)}*`
    case 'error':
      return `**${line(row.code)}** ${line(row.message)}`
    case 'media':
      return '*File*'
  }
}

function time({ timestamp }: ChatRow): string {
  return new Date(timestamp * 1000).toISOString()
}

/** A block of code, with a fence that is longer than any in it. */
function fence(value: unknown): string {
  const code = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  const longest = Math.max(2, ...(code.match(/`+/g) ?? []).map(({ length }) => length))
  const marks = '`'.repeat(longest + 1)
  return `${marks}\n${code}\n${marks}`
}

function quote(text: string): string {
  return text.replace(/^/gm, '> ')
}

function line(text: string): string {
  return visibleText(text)
    .replace(/\s+/g, ' ')
    .replace(/[*_`<[\]]/g, '\\$&')
}
