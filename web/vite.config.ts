import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'
import { shortVirtualList } from './short-virtual-list.ts'

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** Only the lexer of marked: the page makes elements of its tokens. What makes HTML is a quarter of it, and stays out of the page. */
const lexerOfMarked: Plugin = {
  name: 'lexer-of-marked',
  transform: {
    filter: { id: /\/marked\.esm\.js$/ },
    handler(code) {
      const end = code.search(/var ([\w$]+)=new [\w$]+;function [\w$]+\([\w$,]+\){return \1\.parse\(/) // the instance that makes HTML
      const lexer = /([\w$]+) as Lexer\b/.exec(code)?.[1]
      if (end < 0 || !lexer)
        throw new Error('This version of marked is built in another way. Adapt web/vite.config.ts.')
      return { code: `${code.slice(0, end)}export { ${lexer} as Lexer }`, map: null }
    },
  },
}

const PROPERTY = /--[a-z0-9][\w-]*/gi

/** Gives the custom properties of the styles short names: they are written a thousand times. No script and no page names one. */
const shortProperties: Plugin = {
  name: 'short-properties',
  generateBundle(_, bundle) {
    const names = new Map<string, string>()
    const shorten = (name: string): string => {
      if (!names.has(name)) names.set(name, `--${names.size.toString(36)}`)
      return names.get(name) ?? name
    }
    for (const file of Object.values(bundle)) {
      if (file.type === 'asset' && file.fileName.endsWith('.css'))
        file.source = String(file.source).replace(PROPERTY, shorten)
      else if (file.type === 'chunk' && file.code.includes('var(--'))
        throw new Error(`${file.fileName} names a custom property. Set a class instead, or adapt web/vite.config.ts.`)
    }
  },
}

/** Makes elements with `h()`: the automatic runtime of JSX names the children of each element, which takes 8 kB. */
const shortElements: Plugin = {
  name: 'short-elements',
  enforce: 'pre',
  transform: {
    filter: { id: /\.tsx$/ },
    handler: (code) => ({
      code: `import { h as element$, Fragment as Fragment$ } from 'preact';${code}`,
      map: null,
    }),
  },
}

export default defineConfig({
  root: file('.'),
  plugins: [lexerOfMarked, shortVirtualList, shortProperties, shortElements],
  oxc: { jsx: { runtime: 'classic', pragma: 'element$', pragmaFrag: 'Fragment$' } },
  resolve: { conditions: ['toolwright:source', 'module', 'browser'] },
  build: {
    outDir: file('../dist/workbench'),
    emptyOutDir: true,
    target: 'es2023',
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'], // they know light-dark()
    // The policy of the page allows files of the server only.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: { input: [file('index.html'), file('oauth/callback.html')] },
  },
})
