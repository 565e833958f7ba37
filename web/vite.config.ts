import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  root: file('.'),
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
