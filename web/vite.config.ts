import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'

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

export default defineConfig({
  root: file('.'),
  plugins: [lexerOfMarked],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
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
