// Which files of dist a process loads for the root entry point, and what a stack trace in them says.
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** Runs a program with the names of the root entry point. Returns what it prints, as JSON. */
function run(program: string): unknown {
  const text = `
    import { registerHooks } from 'node:module'
    const files = []
    registerHooks({
      load(url, context, next) {
        if (url.includes('/dist/')) files.push(url.split('/dist/')[1].replace(/-[\\w-]{8}(?=\\.js$)/, ''))
        return next(url, context)
      },
    })
    const { LlmAgent, Runner, tool } = await import('./dist/index.js')
    const turn = async (options = {}) => {
      const look = tool({ name: 'look', description: 'Look', run: () => ({ seen: 1 }), ...options })
      const model = {
        name: 'stand-in',
        async *generate({ contents }) {
          const isAnswered = contents.at(-1).role === 'tool'
          yield { content: { role: 'model', parts: [isAnswered ? { text: 'Done.' } : { functionCall: { name: 'look', args: {} } }] } }
        },
      }
      const runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'agent', model, tools: [look] }) })
      return { runner, ...(await runner.complete({ userId: 'ada', message: 'Look.' })) }
    }
    ${program}`
  const flags = ['--input-type=module', '-e', text]
  return JSON.parse(execFileSync(process.execPath, flags, { encoding: 'utf8', stdio: 'pipe' }))
}

test('a process that imports the package and answers a turn loads two files', () => {
  const shown = run('const { text } = await turn(); console.log(JSON.stringify({ text, files }))')
  expect(shown).toEqual({ text: 'Done.', files: ['index.js', 'core.js'] })
})

test('what a plain turn does not need is loaded when it is first used', () => {
  const [copied, files] = run(`
    const { runner, sessionId, events } = await turn()
    const fork = await runner.fork({ userId: 'ada', sessionId, before: events.at(-1).id })
    console.log(JSON.stringify([fork.sessionId !== sessionId, files.slice(2)]))`) as [boolean, string[]]
  expect(copied).toBe(true)
  expect(files).toContain('fork-session.js')
})

test('a stack trace names the functions, classes and private members of the package', () => {
  const stack = run(`
    let stack
    await turn({ run: () => { stack = new Error('here').stack; return {} } })
    console.log(JSON.stringify(stack))`) as string
  const names = [...stack.matchAll(/at (?:async )?(.+?) \(.*\/dist\//g)].map(([, name = '']) => name)
  expect(names.length).toBeGreaterThan(3)
  expect(names.filter((name) => name.split('.').some((part) => part.replace(/^(new )?#?/, '').length < 2))).toEqual([])
})
