// The files of a new project. The agent and its test are an example of this repository, which its tests compile and run.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SERVER_PEERS } from '../serve/required-peers.ts'

/** What the files of a project depend on. */
interface ProjectOptions {
  /** The name in package.json. */
  readonly name: string
  /** The folder of this package. */
  readonly packageFolder: string
}

/** The files of a project, by name. */
export function projectFiles({ name, packageFolder }: ProjectOptions): ReadonlyMap<string, string> {
  const read = (file: string): string => readFileSync(join(packageFolder, file), 'utf8')
  const example = (file: string): string => read(join('examples', 'shop', file))
  return new Map([
    ['package.json', toJson(manifest(name, JSON.parse(read('package.json'))))],
    ['agent.ts', example('agent.ts').replace(' `toolwright create` copies this file.', '')],
    ['agent.test.ts', example('agent.test.ts')],
    ['tsconfig.json', toJson(compilerSettings)],
    ['.gitignore', 'node_modules\n.env\n.toolwright\n*.db\n*.db-*\n*.key\n'],
    ['README.md', readme(name)],
  ])
}

interface OwnManifest {
  readonly version: string
  readonly peerDependencies: { readonly [name: string]: string }
}

/** The packages of the server have the versions that this package supports. */
function manifest(name: string, { version, peerDependencies }: OwnManifest): object {
  const server = Object.fromEntries(SERVER_PEERS.map((peer) => [peer, peerDependencies[peer]]))
  return {
    name,
    version: '0.0.0',
    private: true,
    type: 'module',
    scripts: {
      start: 'toolwright web agent.ts --app shop --open',
      chat: 'toolwright run agent.ts --app shop',
      test: 'node --test',
      types: 'tsc',
    },
    dependencies: sortKeys({ ...server, toolwright: `^${version}`, zod: '^4' }),
    devDependencies: { '@types/node': '^24', typescript: '>=5.8' },
    engines: { node: '>=22.18' },
  }
}

const compilerSettings = {
  compilerOptions: {
    module: 'nodenext',
    target: 'es2024',
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    skipLibCheck: true,
    types: ['node'],
  },
  include: ['*.ts'],
}

function readme(name: string): string {
  return `# ${name}

\`\`\`sh
npm install
npm test          # the tests of agent.test.ts
npm start         # the workbench in your browser: send "Refund order A-7"
npm run chat      # the same agent in the terminal
\`\`\`

The agent is in \`agent.ts\`: a tool that reads, and one that waits for your approval. It needs no key. To use a real model, write
a key into \`.env\` and install the package of its provider:

| \`.env\` | package |
|---|---|
| \`GEMINI_API_KEY=...\` | \`npm i @google/genai\` |
| \`OPENAI_API_KEY=...\` | \`npm i @ai-sdk/openai\` |
| \`ANTHROPIC_API_KEY=...\` | \`npm i @ai-sdk/anthropic\` |

\`npx toolwright doctor agent.ts\` checks the installation and says what to fix.
`
}

const toJson = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`

function sortKeys(values: { readonly [name: string]: string | undefined }): object {
  return Object.fromEntries(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)))
}
