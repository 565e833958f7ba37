import { globSync, statSync } from 'node:fs'
import { expect, test } from 'vitest'

test('the built page takes less than 350 kB', () => {
  const files = globSync('dist/workbench/**/*.{html,js,css,svg}')
  expect(files.length).toBeGreaterThanOrEqual(4)
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0)
  expect(bytes).toBeLessThan(350_000)
})
