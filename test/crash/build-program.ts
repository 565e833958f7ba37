import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** Bundles a program into a folder. Returns its path. */
export async function buildProgram(folder: string, program: URL): Promise<string> {
  const outfile = join(folder, 'program.mjs')
  await build({
    entryPoints: [fileURLToPath(program)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['toolwright:source'],
    // packages in CommonJS call require()
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    logLevel: 'error',
  })
  return outfile
}
