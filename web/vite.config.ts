import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** The instance that marked makes of itself, and what it does with it, up to the exports. */
const INSTANCE = /var (\w+)=new \w+;function \w+\(\w+,\w+\)\{return \1\.parse\([^]*(?=export\{)/
const EXPORTS = /export\{[^}]*?(\w+ as Lexer)[^}]*\}/

/** Leaves the parser and the renderers of marked out: the page uses its lexer only, and makes elements from the tokens. */
const lexerOfMarked: Plugin = {
  name: 'lexer-of-marked',
  transform(code, id) {
    if (!id.endsWith('/marked/lib/marked.esm.js')) return undefined
    if (!INSTANCE.test(code) || !EXPORTS.test(code)) throw new Error('marked has another shape now. Change vite.config.ts.')
    return { code: code.replace(INSTANCE, '').replace(EXPORTS, 'export{$1}'), map: null }
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
    // The policy of the page allows files of the server only.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: { input: [file('index.html'), file('oauth/callback.html')] },
  },
})
