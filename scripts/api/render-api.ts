// Writes the API reference as markdown: one page for each entry point, and an index.
import { type ApiEntry, type ApiPage, isType, readApi } from './read-api.ts'

/** Headings for the folders of the root entry point, in the order of its page. */
const TOPICS: ReadonlyMap<string, string> = new Map([
  ['tool', 'Tools'],
  ['context', 'Contexts of tools and callbacks'],
  ['model', 'Models and requests'],
  ['agent', 'Agents'],
  ['runner', 'Runner'],
  ['policy', 'Policies'],
  ['tools', 'Built-in tools'],
  ['content', 'Messages and content'],
  ['event', 'Events'],
  ['session', 'Sessions'],
  ['artifact', 'Artifacts'],
  ['memory', 'Memory'],
  ['schedule', 'Schedules'],
  ['limit', 'Limits over all processes'],
  ['worker', 'Workers'],
  ['credential', 'Credentials'],
  ['auth', 'Resolving credentials'],
  ['error', 'Errors'],
  ['dispatch', 'Tool callbacks and logging'],
  ['observe', 'Observers'],
  ['schema', 'Schemas'],
  ['base', 'Shared types'],
])

/** The text of each file of the reference, by file name. */
export function renderApi(pages: readonly ApiPage[] = readApi()): Map<string, string> {
  const rendered = pages.map((page): [string, string] => [page.file, renderPage(page, linksFor(page, pages))])
  return new Map([['index.md', renderIndex(pages)], ...rendered])
}

function renderIndex(pages: readonly ApiPage[]): string {
  const rows = pages.map(({ entryPoint, file, doc }) => `| [\`${entryPoint}\`](./${file}) | ${cell(summaryOf(doc))} |`)
  const names = pages.map(({ entryPoint, file, entries }) => {
    const links = entries.map((entry) => `[\`${entry.name}\`](./${file}#${idOf(entry, entries)})`)
    return `## ${entryPoint}\n\n${links.join(' · ')}\n`
  })
  const intro = 'Every export of every entry point, generated from the doc comments in the source.'
  return `# API reference\n\n${intro}\n\n| Entry point | Contents |\n|---|---|\n${rows.join('\n')}\n\n${names.join('\n')}`
}

function renderPage({ entryPoint, doc, entries }: ApiPage, links: Links): string {
  const folders = new Set(entries.map(({ folder }) => folder))
  const isRoot = entryPoint === 'toolwright'
  const render = (level: string) => (entry: ApiEntry) =>
    `${level} ${entry.name}${entry.kind === 'function' ? '()' : ''} {#${idOf(entry, entries)}}\n\n${renderEntry(entry, links)}`
  const unknown = [...folders].filter((folder) => isRoot && !TOPICS.has(folder))
  if (unknown.length > 0)
    throw new Error(`TOPICS in scripts/api/render-api.ts has no heading for the folder ${unknown.join()}.`)
  const topics = isRoot ? [...TOPICS].filter(([folder]) => folders.has(folder)) : []
  const sections = topics.map(([topic, heading]) => {
    const some = entries.filter(({ folder }) => folder === topic)
    return `## ${heading} {#topic-${topic}}\n\n${some.map(render('###')).join('\n')}`
  })
  const body = isRoot ? sections : entries.map(render('##'))
  return [`# ${entryPoint}`, linkNames(summaryOf(doc), links), body.join('\n')].filter(Boolean).join('\n\n')
}

function renderEntry({ name, kind, doc, signatures, members, helperTypes }: ApiEntry, links: Links): string {
  const code = (text: string): string => `\`\`\`ts\n${text}\n\`\`\``
  const used = [...new Set(signatures.join(' ').match(/\b[A-Z]\w*/g))].filter(
    (word) => word !== name && links.has(word),
  )
  const isBare = signatures.join() === `interface ${name}`
  const examples = [...doc.matchAll(/^@example\n([\s\S]*?)(?=^@|$(?![\s\S]))/gm)].map(([, text = '']) => text.trim())
  const rows = members.map((member) => {
    const label = member.isOptional ? `\`${member.name}\` *optional*` : `\`${member.name}\``
    return `| ${label} | ${linkedType(member.type, links)} | ${cell(linkNames(summaryOf(member.doc), links))} |`
  })
  const blocks = [
    `*${kind}*`,
    linkNames(summaryOf(doc), links),
    isBare ? '' : code(signatures.join('\n')),
    used.length > 0 ? `See ${used.map((word) => `[\`${word}\`](${links.get(word)})`).join(', ')}.` : '',
    ...examples.map((example) => `Example:\n\n${code(example)}`),
    rows.length > 0 ? `| Member | Type | Description |\n|---|---|---|\n${rows.join('\n')}` : '',
    helperTypes.length > 0 ? `Helper types, which are not exported:\n\n${code(helperTypes.join('\n'))}` : '',
  ]
  return `${blocks.filter(Boolean).join('\n\n')}\n`
}

/** The address of each name: on this page if the page has it, else on another page. */
type Links = ReadonlyMap<string, string>

function linksFor(own: ApiPage, pages: readonly ApiPage[]): Links {
  const others = pages.filter((page) => page !== own)
  return new Map(
    [...others.toReversed(), own].flatMap(({ file, entries }) =>
      entries.map((entry) => [entry.name, `${file === own.file ? '' : `./${file}`}#${idOf(entry, entries)}`]),
    ),
  )
}

/** The id of a section, in lower case because VitePress writes links so. `Tool` is `tool-type` where `tool` exists. */
function idOf(entry: ApiEntry, entries: readonly ApiEntry[]): string {
  const id = entry.name.toLowerCase()
  const isTaken = isType(entry) && entries.some((other) => other !== entry && other.name.toLowerCase() === id)
  return isTaken ? `${id}-type` : id
}

/** A type as code with links. Special characters of markdown, HTML and Vue templates are escaped. */
function linkedType(type: string, links: Links): string {
  const parts = type.split(/('[^']*'|\b[A-Z]\w*\b)/).map((part) => {
    const text = part.replace(/[<>{}[\]|*_`\\&]/g, (char) => `&#${char.charCodeAt(0)};`)
    return links.has(part) ? `[${text}](${links.get(part)})` : text
  })
  return `<code>${parts.join('')}</code>`
}

/** Doc text as markdown: exported names in backticks become links, and nothing in the text is HTML. */
function linkNames(text: string, links: Links): string {
  const parts = text.split(/(`[^`]+`)/).map((part) => {
    if (!part.startsWith('`')) return part.replaceAll('<', '&lt;').replaceAll('{{', '&#123;&#123;')
    const link = links.get(part.slice(1, -1).replace(/\(\)$/, ''))
    return link && /^`[A-Z]|\(\)`$/.test(part) ? `[${part}](${link})` : part
  })
  return parts.join('')
}

/** The text of a doc comment before its first tag. */
export function summaryOf(doc: string): string {
  return doc.replace(/(^|\n)@[\s\S]*$/, '').trim()
}

function cell(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ').replaceAll('|', '\\|')
}
