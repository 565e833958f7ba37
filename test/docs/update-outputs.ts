// Rewrites what the pages show as output, after the programs or the messages of the product have changed:
//   npx node --conditions=toolwright:source test/docs/update-outputs.ts
// Read the difference before you commit it.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { node } from '../examples/child.ts'
import { pages, programs, sourceOf } from './pages.ts'

const folder = mkdtempSync(join(tmpdir(), 'toolwright-outputs-'))
symlinkSync(resolve('node_modules'), join(folder, 'node_modules'), 'junction')
writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true }))
try {
  const all = pages().flatMap(programs)
  for (const program of all) {
    mkdirSync(dirname(join(folder, program.name)), { recursive: true })
    writeFileSync(join(folder, program.name), sourceOf(program))
  }
  for (const { page, name, output } of all) {
    if (output === undefined) continue
    const { code, out, errors } = await node([join(folder, name)], { cwd: dirname(join(folder, name)) })
    if (code !== 0) console.error(`${name} exits with ${code}:\n${errors}`)
    if (code !== 0 || out === output) continue
    const text = readFileSync(page, 'utf8')
    writeFileSync(
      page,
      text.replace(`\`\`\`text\n${output}\`\`\`\n`, () => `\`\`\`text\n${out}\`\`\`\n`),
    )
    console.log(`${page}: ${name}`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
