// Reads our own documentation: its pages, the fenced blocks in them, and the programs these make.
import { globSync, readFileSync } from 'node:fs'

export interface Page {
  readonly file: string
  readonly text: string
  readonly blocks: readonly Block[]
}

/**
 * A fenced block: ```` ```ts run ```` has the language `ts` and the word `run`. Words of `ts` blocks: `run` = the block is
 * run and prints what the next block, `text`, shows; `test` = the block is run and exits with 0; `more` = the block
 * continues the block before; `file=desk.mts` = other blocks of the page import the block by this file name; `theirs` =
 * the block is a program of another kit, which `npm run compat` compiles.
 */
export interface Block {
  readonly language: string
  readonly words: readonly string[]
  readonly code: string
  /** Of its first line of code, from 1. */
  readonly line: number
}

/** A block, or several where `more` continues the one before. */
export interface Program {
  readonly page: string
  /** The path of the file, unique among all pages; files of one page share a folder. */
  readonly name: string
  readonly blocks: readonly Block[]
  /** It is run, and must end well. */
  readonly isRun: boolean
  /** What it must print, when its page says so. */
  readonly output: string | undefined
}

/** README.md and the pages of docs/ that people write; the API reference is generated. */
export function pages(): Page[] {
  const files = globSync('docs/**/*.md')
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !file.startsWith('docs/reference/api/'))
  return ['README.md', ...files.sort()].map(readPageFile)
}

export function readPageFile(file: string): Page {
  return readPage(file, readFileSync(file, 'utf8'))
}

export function readPage(file: string, text: string): Page {
  const blocks: Block[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const [, language, words = ''] = /^```(\w*) ?(.*)$/.exec(lines[at] ?? '') ?? []
    if (language === undefined) continue
    const end = lines.indexOf('```', at + 1)
    if (end < 0) throw new Error(`${file}:${at + 1}: the block has no end`)
    const code = `${lines.slice(at + 1, end).join('\n')}\n`
    blocks.push({ language, words: words.split(' ').filter(Boolean), code, line: at + 2 })
    at = end
  }
  return { file, text, blocks }
}

export function programs({ file, blocks }: Page): Program[] {
  const found: { page: string; name: string; blocks: Block[]; isRun: boolean; output: string | undefined }[] = []
  for (const [at, block] of blocks.entries()) {
    if (block.language !== 'ts' || block.words.includes('theirs')) continue
    const before = found.at(-1)
    const isMore = block.words.includes('more') && before
    const name = fileNameOf(file, block)
    const program = isMore ? before : { page: file, name, blocks: [], isRun: false, output: undefined }
    program.blocks.push(block)
    if (block.words.includes('run') || block.words.includes('test')) program.isRun = true
    if (block.words.includes('run')) program.output = outputAfter(file, blocks, at)
    if (!isMore) found.push(program)
  }
  return found
}

function fileNameOf(page: string, { line, words }: Block): string {
  const slug = page
    .replace(/^docs\//, '')
    .replace(/\.md$/, '')
    .replaceAll('/', '-')
  const file = words.find((word) => word.startsWith('file='))?.slice('file='.length)
  return file ? `${slug}/${file}` : `${slug}-${line}.ts`
}

/** The blocks of a page that belong to another kit. */
export function theirBlocks({ blocks }: Page): Block[] {
  return blocks.filter(({ language, words }) => language === 'ts' && words.includes('theirs'))
}

function outputAfter(file: string, blocks: readonly Block[], at: number): string {
  const next = blocks[at + 1]
  if (next?.language === 'text') return next.code
  throw new Error(`${file}:${blocks[at]?.line}: a block that is run is followed by a text block with what it prints`)
}

/** As a file in which everything stands on the line it has in its page. */
export function sourceOf({ blocks }: Pick<Program, 'blocks'>): string {
  let source = ''
  for (const { code, line } of blocks) {
    source += '\n'.repeat(line - source.split('\n').length)
    source += code
  }
  return `${source}export {}\n`
}

/** Relative links and images of a page, without what follows `#`. Blocks of code hold none. */
export function linksOf({ text }: Page): string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target) && !target.startsWith('#'))
    .map((target) => target.replace(/#.*$/, ''))
}

/** Headings a link may point to, as GitHub names them. */
export function anchorsOf({ text }: Page): Set<string> {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '')
  const headings = [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading)
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

/** The cells of every table row of a page that has at least so many. */
export function rowsOf({ text }: Page, columns: number): string[][] {
  return [...text.matchAll(/^\|(.+)\|$/gm)]
    .map(([, row = '']) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()))
    .filter((cells) => cells.length >= columns && !/^-+$/.test(cells[0] ?? ''))
}
