import { defineConfig, type ViteUserConfig } from 'vitest/config'

const conditions = ['toolwright:source']

const config: ViteUserConfig = defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: { include: ['*.eval.ts'] },
})
export default config
