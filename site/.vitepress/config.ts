// The documentation as a site: `npm run docs` builds docs/ into site/dist, `npm run docs:dev` serves it on loopback. A test
// builds a copy of docs/, which TOOLWRIGHT_DOCS names.
import { globSync, readFileSync } from 'node:fs'
import { posix, relative, resolve } from 'node:path'
import type { DefaultTheme, UserConfig } from 'vitepress'

const root = resolve(import.meta.dirname, '../..')
const docs = process.env.TOOLWRIGHT_DOCS ?? resolve(root, 'docs')
const icon = readFileSync(resolve(root, 'web/public/icon.svg'), 'utf8')
const repository = 'https://github.com/toolwright/toolwright'

/** The top of the home page. The lists of docs/README.md follow. */
const home = {
  layout: 'home',
  hero: {
    name: 'Toolwright',
    text: 'Agents whose tools can be trusted',
    tagline:
      'A TypeScript agent development kit. A call is validated before it runs, waits for approval where you require it, has a deadline, and is recorded: a crash neither loses nor silently repeats it.',
    actions: [
      { theme: 'brand', text: 'Getting started', link: '/getting-started' },
      { theme: 'alt', text: 'See the workbench', link: '/guides/workbench' },
      { theme: 'alt', text: 'What is guaranteed', link: '/concepts/guarantees' },
    ],
  },
  features: [
    {
      title: 'Approvals that hold',
      details:
        'A person sees the exact arguments, in another process or a week later. A changed tool is asked about again.',
      link: '/guides/require-approval',
    },
    {
      title: 'Crashes are part of the design',
      details:
        'Every step is in an event log. Another process continues where the log ends, and knows which calls may have run.',
      link: '/concepts/effects',
    },
    {
      title: 'A workbench in your server',
      details:
        'Chat, timeline, approvals, state, a tool bench and evaluations in one page that loads nothing from other hosts.',
      link: '/guides/workbench',
    },
    {
      title: 'Any model, or none',
      details: 'Gemini, the models of the AI SDK, your own, or a scripted one: examples and tests run without a key.',
      link: '/guides/use-ai-sdk-models',
    },
    {
      title: 'Voice with the same rules',
      details: 'Live sessions with phases, background tools and confirmations, through the same dispatcher as text.',
      link: '/guides/live-sessions',
    },
    {
      title: 'Coming from ADK',
      details: 'The concepts, names and wire format of Google ADK; its clients and its web page work unchanged.',
      link: '/migrating/from-adk',
    },
  ],
}

const config: UserConfig<DefaultTheme.Config> = {
  title: 'Toolwright',
  description: 'The TypeScript agent development kit whose tools can be trusted.',
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(icon)}` }]],
  srcDir: docs,
  outDir: 'dist',
  cacheDir: 'cache',
  rewrites: { 'README.md': 'index.md', ':folder/README.md': ':folder/index.md' },
  cleanUrls: false,
  metaChunk: true,
  transformPageData: ({ relativePath }) => (relativePath === 'index.md' ? { frontmatter: home } : undefined),
  markdown: {
    config: (md) => {
      // Links that leave docs/ lead to the repository.
      const openLink =
        md.renderer.rules.link_open ?? ((tokens, at, options, _, self) => self.renderToken(tokens, at, options))
      md.renderer.rules.link_open = (tokens, at, options, env, self) => {
        const token = tokens[at]
        const href = token?.attrGet('href') ?? ''
        const page = posix.join('docs', toPosix(relative(docs, env.realPath ?? env.path)))
        const target = posix.join(posix.dirname(page), href)
        const isOutside = /^\.{1,2}\//.test(href) && !target.startsWith('docs/')
        if (isOutside) token?.attrSet('href', `${repository}/blob/main/${target}`)
        return openLink(tokens, at, options, env, self)
      }
      // ```ts file=agent.mts: the name of the file is above the code.
      const fence = md.renderer.rules.fence
      md.renderer.rules.fence = (tokens, at, options, env, self) => {
        const code = fence?.(tokens, at, options, env, self) ?? ''
        const file = /(?:^| )file=(\S+)/.exec(tokens[at]?.info ?? '')?.[1]
        return file ? `<p class="file-name"><code>${md.utils.escapeHtml(file)}</code></p>\n${code}` : code
      }
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    socialLinks: [],
    nav: [
      { text: 'Getting started', link: '/getting-started' },
      { text: 'Errors', link: '/reference/errors' },
      { text: 'Repository', link: repository },
    ],
    sidebar: sidebar(),
  },
}
export default config

/** The lists of docs/README.md, and the generated API reference. */
function sidebar(): DefaultTheme.SidebarItem[] {
  const groups: DefaultTheme.SidebarItem[] = [{ text: 'Getting started', link: '/getting-started' }]
  let section: DefaultTheme.SidebarItem | undefined
  let group: DefaultTheme.SidebarItem | undefined
  for (const line of readFileSync(resolve(docs, 'README.md'), 'utf8').split('\n')) {
    const heading = /^## (.+)$/.exec(line)?.[1]
    if (heading) {
      section = { text: heading, items: [], collapsed: heading !== 'Guides' }
      group = section
      groups.push(section)
    }
    const label = /^\*\*(.+)\*\*$/.exec(line)?.[1]
    if (label && section) {
      group = { text: label, items: [], collapsed: true }
      section.items?.push(group)
    }
    for (const [, file = ''] of section ? line.matchAll(/\]\(([\w/-]+\.md)\)/g) : []) {
      group?.items?.push(entry(file))
    }
  }
  const api = globSync('reference/api/*.md', { cwd: docs }).map(toPosix).sort()
  const reference = groups.find(({ text }) => text === 'Reference')
  if (api.length > 0) reference?.items?.push({ text: 'API reference', items: api.map(entry), collapsed: false })
  return groups
}

function entry(file: string): DefaultTheme.SidebarItem {
  const title = /^# (.+)$/m.exec(readFileSync(resolve(docs, file), 'utf8'))?.[1] ?? file
  return { text: title.replaceAll('`', ''), link: `/${file.replace(/(?:README|index)?\.md$/, '')}` }
}

function toPosix(path: string): string {
  return path.replaceAll('\\', '/')
}
