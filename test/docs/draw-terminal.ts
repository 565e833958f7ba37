// Draws a terminal session as an SVG that is legible on light and dark pages and loads nothing.

/** A command and what it printed. */
export interface Step {
  readonly command: string
  readonly output: string
  /** Shown after the command, as a comment of the shell. */
  readonly note?: string
}

const LINE_HEIGHT = 22
const PADDING = 20
const CHARACTER_WIDTH = 8.43 // of a monospaced font of 14 px

export function drawTerminal(title: string, steps: readonly Step[]): string {
  const lines = steps.flatMap(({ command, output, note }) => [
    { type: 'command', text: note ? `$ ${command}  # ${note}` : `$ ${command}` },
    ...output
      .trimEnd()
      .split('\n')
      .map((text) => ({ type: 'output', text })),
  ])
  const columns = Math.max(...lines.map(({ text }) => text.length))
  const width = Math.ceil(columns * CHARACTER_WIDTH) + 2 * PADDING
  const height = lines.length * LINE_HEIGHT + 2 * PADDING
  const rows = lines.map(
    ({ type, text }, at) =>
      `  <text class="${type}" x="${PADDING}" y="${PADDING + at * LINE_HEIGHT + 15}" xml:space="preserve">${escapeXml(text)}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(title)}">
  <title>${escapeXml(title)}</title>
  <style>
    rect { fill: #f6f8fa; stroke: #d0d7de }
    text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1f2328 }
    .command { font-weight: bold; fill: #0550ae }
    @media (prefers-color-scheme: dark) {
      rect { fill: #161b22; stroke: #30363d }
      text { fill: #e6edf3 }
      .command { fill: #79c0ff }
    }
  </style>
  <rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" />
${rows.join('\n')}
</svg>
`
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
