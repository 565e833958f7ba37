// Reads the documentation: its pages, their code blocks, and the programs in the code blocks.
import { globSync, readFileSync } from 'node:fs'

export interface Page {
  readonly file: string
  readonly text: string
  readonly blocks: readonly Block[]
}

/**
 * A code block. ```` ```ts run ```` has the language `ts` and the word `run`. The words of `ts` blocks: `run` runs the
 * program and compares its output with the next block, `text`; `test` runs it; `infer` transforms it with
 * `toolwright/infer` first; `more` continues the block before;
 * `file=desk.mts` is the name by which other blocks of the page import the block; `theirs` is a program of another framework,
 * which `npm run compat` compiles.
 */
export interface Block {
  readonly language: string
  readonly words: readonly string[]
  readonly code: string
  /** Line number of its first line of code, from 1. */
  readonly line: number
}

/** The code of one block, and of the `more` blocks after it. */
export interface Program {
  readonly page: string
  /** The path of the file, unique among all pages; files of one page share a folder. */
  readonly name: string
  readonly blocks: readonly Block[]
  /** Whether the tests run it. */
  readonly isRun: boolean
  /** Whether plain functions in it are tools. */
  readonly usesInfer: boolean
  /** The expected output, if the page shows it. */
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
    if (end < 0) throw new Error(`${file}:${at + 1}: the code block is not closed`)
    const code = `${lines.slice(at + 1, end).join('\n')}\n`
    blocks.push({ language, words: words.split(' ').filter(Boolean), code, line: at + 2 })
    at = end
  }
  return { file, text, blocks }
}

export function programs({ file, blocks }: Page): Program[] {
  const found: (Program & { blocks: Block[]; isRun: boolean; output: string | undefined })[] = []
  for (const [at, block] of blocks.entries()) {
    if (block.language !== 'ts' || block.words.includes('theirs')) continue
    const before = found.at(-1)
    const isMore = block.words.includes('more') && before
    const name = fileNameOf(file, block)
    const usesInfer = block.words.includes('infer')
    const program = isMore ? before : { page: file, name, blocks: [], isRun: false, usesInfer, output: undefined }
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

/** The blocks of a page that are programs of another framework. */
export function theirBlocks({ blocks }: Page): Block[] {
  return blocks.filter(({ language, words }) => language === 'ts' && words.includes('theirs'))
}

function outputAfter(file: string, blocks: readonly Block[], at: number): string {
  const next = blocks[at + 1]
  if (next?.language === 'text') return next.code
  throw new Error(
    `${file}:${blocks[at]?.line}: a text block with the expected output must follow a block with the word "run"`,
  )
}

/** The program as a file in which every line has the line number of its page. */
export function sourceOf({ blocks }: Pick<Program, 'blocks'>): string {
  let source = ''
  for (const { code, line } of blocks) {
    source += '\n'.repeat(line - source.split('\n').length)
    source += code
  }
  return `${source}export {}\n`
}

/** The relative links and images of a page, without anchors. Code blocks are ignored. */
export function linksOf({ text }: Page): string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target) && !target.startsWith('#'))
    .map((target) => target.replace(/#.*$/, ''))
}

/** The anchors of the headings, as GitHub names them. */
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

/** The cells of every table row with at least `columns` cells. */
export function rowsOf({ text }: Page, columns: number): string[][] {
  return [...text.matchAll(/^\|(.+)\|$/gm)]
    .map(([, row = '']) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()))
    .filter((cells) => cells.length >= columns && !/^-+$/.test(cells[0] ?? ''))
}
