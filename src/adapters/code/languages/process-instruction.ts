import type { Interpreter } from './languages.ts'

/** Tells the model how to write code that runs as a process. */
export function processInstruction(interpreters: ReadonlyMap<string, Interpreter>, hasNetwork: boolean): string {
  const lines = [
    `Each run starts fresh${hasNetwork ? '' : ', without a network'}. Your input files are in the working directory. Files that you write there are saved. Print every value that you want to see.`,
    interpreters.get('python')?.toolClient
      ? 'In Python, `import tools`; `tools.name(key=value)` calls a tool and returns a dict.'
      : '',
    interpreters.get('javascript')?.toolClient ? 'In JavaScript, `await tools.name({ key: value })` calls a tool.' : '',
  ]
  return lines.filter(Boolean).join(' ')
}
