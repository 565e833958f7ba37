import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test('without its peer quickjs() says what to install', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-peer-'))
  try {
    // our own files where no package is installed
    for (const part of ['base', 'code', 'error']) cpSync(join('src', part), join(folder, part), { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    const program = `import { quickjs } from ${JSON.stringify(join(folder, 'code/quickjs.ts'))}
const request = { code: '1', language: 'js', sessionKey: '', signal: new AbortController().signal }
await quickjs().execute(request).catch(({ code, message }) => console.log(code, message))`
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect(stdout).toBe('MISSING_PEER "quickjs-emscripten" is not installed. Run: npm i quickjs-emscripten\n')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
